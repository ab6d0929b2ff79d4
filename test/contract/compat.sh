#!/bin/sh
# Compares openapi.yaml with that of the last release, and fails if a client
# of that release could break. Its arguments are the command of oasdiff.
set -eu
cd "$(dirname "$0")"
levels=$PWD/levels.txt
cd ../../api
document=openapi.yaml

# A shallow clone doesn't know the tags.
if [ "$(git rev-parse --is-shallow-repository)" = true ] && ! git fetch --quiet --unshallow --tags; then
	echo "compatibility: this is a shallow clone, and the release tags can't be fetched: git fetch --unshallow --tags" >&2
	exit 1
fi
tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' --exclude '*-*' 2>/dev/null) || tag=
if [ -z "$tag" ]; then
	echo "compatibility: there is no release tag (v*) yet, so there is nothing to compare api/$document with"
	exit 0
fi
if ! git cat-file -e "$tag:./$document" 2>/dev/null; then
	echo "compatibility: the release $tag has no api/$document yet, so there is nothing to compare with"
	exit 0
fi
released=$(mktemp)
trap 'rm -f "$released" "$released.levels"' EXIT
git show "$tag:./$document" >"$released"
echo "compatibility: api/$document against that of $tag"
# levels.txt says which changes are not breaking here, and why.
grep -v '^#' "$levels" >"$released.levels"
"$@" breaking --fail-on WARN --severity-levels "$released.levels" "$released" "$document"
