#!/bin/sh
# Renames the project in every text file and file name that git tracks:
#
#	docs/extending/rename.sh github.com/you/orchids orchid orchids "Orchid House"
#
# The arguments are the module path, what replaces "plant" and "plants", and
# optionally what replaces the title "Plant Store". It needs git, perl and Go.
set -eu
fail() {
	echo "rename: $*" >&2
	exit 2
}
[ $# -eq 3 ] || [ $# -eq 4 ] || fail "usage: $0 MODULE SINGULAR PLURAL [TITLE], such as: $0 github.com/you/orchids orchid orchids"
printf '%s %s' "$2" "$3" | LC_ALL=C grep -qx '[a-z][a-z]* [a-z][a-z]*' || fail "the names may only have the letters a to z in lower case, not $2 and $3"
[ "$2" != "$3" ] || fail "the singular and the plural must differ"
cd "$(dirname "$0")/../.."

old=$(go list -m) m=$1 s=$2 p=$3 t=${4:-}
export old m s p t

# The first place where the code already has one of the names, outside comments
# and strings, in case they clash.
taken=$(git ls-files '*.go' | perl -ne '
	BEGIN { $word = qr/\b(?:$ENV{s}|$ENV{p})\b/i } chomp; my $name = $_; open my $file, "<", $name or next;
	while (my $line = <$file>) {
		$line =~ s{"(?:\\.|[^"\\])*"|`[^`]*`|//.*}{}g;
		if ($line =~ /($word)/) { print "$1 in $name:$."; exit }
	}')

# The module path comes first, since it may have the old words in it. Then "a" or
# "an" is made to fit the new name. A test percent-encodes a path.
rename='BEGIN { ($old, $m, $s, $p, $t) = @ENV{qw(old m s p t)}; $n = $s =~ /^[aeiou]/ ? "n" : "" }
	s{\Q$old\E}{\0}g;
	s{Plant Store}{$t}g if $t;
	s{\b([Aa])n?( [`*"]*)(?=plant)}{$1$n$2}gi;
	s{%70%6c%61%6e%74%73}{join "", map { sprintf "%%%02x", ord } split //, $p}ge;
	s{plants}{$p}g; s{Plants}{ucfirst $p}ge; s{PLANTS}{uc $p}ge;
	s{plant}{$s}g; s{Plant}{ucfirst $s}ge; s{PLANT}{uc $s}ge;
	s{\0}{$m}g'

git grep -IlzE '' -- ':!LICENSE' ':!go.sum' ':!*.svg' | xargs -0 perl -pi -e "$rename"
git ls-files | while read -r from; do
	to=$(printf %s "$from" | perl -pe "$rename")
	if [ "$from" != "$to" ]; then
		mkdir -p "$(dirname "$to")"
		git mv "$from" "$to"
	fi
done
find . -depth -type d -empty ! -path './.git/*' -exec rmdir {} \;
errors=$({ gofmt -w . && go vet ./...; } 2>&1) || fail "the new names clash with names in the code, such as ${taken:-in these lines}:
$(echo "$errors" | head -n 5)
Undo with git reset --hard, and choose others"
echo "renamed; now run: go test ./..."
