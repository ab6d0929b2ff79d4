#!/bin/sh
# Fails if api/openapi.yaml could break a client of an earlier version. That is
# the first of these that exists:
#
#   - the last release, by its tag v1.2.3
#   - the last commit whose document has another info.version
#   - the last commit, or its parent if the document is committed
#
# Arguments: the command that runs oasdiff.
set -eu
cd "$(dirname "$0")/../../api"

# document prints the document of a commit, and version the info.version of the
# document on standard input.
document() { git show "$1:./openapi.yaml" 2>/dev/null; }
version() { sed -n 's/^  version: *//p' | head -n 1; }

if [ "$(git rev-parse --is-shallow-repository)" = true ] && ! git fetch --quiet --unshallow --tags; then
	echo "compatibility: can't fetch the history of this shallow clone; run git fetch --unshallow --tags" >&2
	exit 1
fi
current=$(version <openapi.yaml)
base=$(git describe --tags --abbrev=0 --match 'v[0-9]*' --exclude '*-*' 2>/dev/null) || base=
if [ -z "$base" ]; then
	for commit in $(git rev-list HEAD -- openapi.yaml); do
		other=$(document "$commit" | version)
		if [ -n "$other" ] && [ "$other" != "$current" ]; then
			base=$commit
			break
		fi
	done
fi
if [ -z "$base" ]; then
	base=HEAD
	git diff --quiet HEAD -- openapi.yaml && base=HEAD^
fi
earlier=$(mktemp)
trap 'rm -f "$earlier"' EXIT
if ! document "$base" >"$earlier"; then
	echo "compatibility: $base has no api/openapi.yaml, so there is nothing to compare with"
	exit 0
fi
echo "compatibility: api/openapi.yaml, version $current, against version $(version <"$earlier") of $base"
"$@" breaking --flatten-allof --fail-on WARN "$earlier" openapi.yaml
