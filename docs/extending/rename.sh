#!/bin/sh
# Renames the project in every file and file name that git tracks:
#
#	docs/extending/rename.sh github.com/you/orchids orchid orchids
#
# The first argument is the module path, the others are what replaces "plant"
# and "plants". It needs git, perl and Go.
set -eu
if [ $# -ne 3 ] || ! printf '%s %s' "$2" "$3" | grep -qx '[a-z][a-z]* [a-z][a-z]*'; then
	echo "usage: $0 MODULE SINGULAR PLURAL, such as: $0 github.com/you/orchids orchid orchids" >&2
	exit 2
fi
cd "$(dirname "$0")/../.."

# renamed prints its input with the new names. The module path comes first,
# since it may have the old words in it.
rename='
	s{example\.com/plantstore}{\0}g;
	s{plants}{$p}g; s{Plants}{ucfirst $p}ge; s{PLANTS}{uc $p}ge;
	s{plant}{$s}g; s{Plant}{ucfirst $s}ge; s{PLANT}{uc $s}ge;
	s{\0}{$m}g'
export m="$1" s="$2" p="$3"
set -- perl -pe 'BEGIN { ($m, $s, $p) = @ENV{qw(m s p)} }'"$rename"

git ls-files -z -- ':!LICENSE' ':!go.sum' | xargs -0 "$@" -i
git ls-files | while read -r old; do
	new=$(printf %s "$old" | "$@")
	if [ "$old" != "$new" ]; then
		mkdir -p "$(dirname "$new")"
		git mv "$old" "$new"
	fi
done
gofmt -w .
echo "renamed; now run: go test ./..."
