#!/bin/sh
# Fails if api/openapi.yaml could break a client of the last release, the last tag such
# as v1.2.3. The arguments are the command that runs oasdiff.
set -eu
CDPATH= cd "$(dirname "$0")/../.."

# Without the history, there would be nothing to compare with, and the check would pass.
tracked=
LC_ALL=C git rev-parse 2>&1 | grep -q '^fatal: not a git repository .or ' || tracked=$(git ls-files api/openapi.yaml)
if [ -z "$tracked" ]; then
	echo "compatibility: finding the last version needs git and the repository's history: run this in a clone" >&2
	exit 1
fi

if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
	git fetch --quiet --unshallow --tags
fi
base=$(git describe --tags --abbrev=0 --match 'v[0-9]*' --exclude '*-*' 2>/dev/null) || {
	echo "compatibility: nothing to compare with before the first release (tag v1.2.3)"
	exit 0
}
earlier=$(mktemp)
trap 'rm -f "$earlier"' EXIT
if ! git show "$base:api/openapi.yaml" >"$earlier"; then
	echo "compatibility: nothing to compare with: $base has no api/openapi.yaml"
	exit 0
fi
echo "compatibility: api/openapi.yaml against that of $base"
"$@" breaking --fail-on WARN "$earlier" api/openapi.yaml
