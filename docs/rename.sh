#!/bin/sh
# Renames the project in every text file and file name that git tracks:
#
#	docs/rename.sh github.com/you/orchids orchid orchids "Orchid House"
#
# The arguments are the module path, the words that replace "plant" and "plants", and the
# title that replaces "Plant Store", by default "Orchid Service". The script first renames
# a copy, so that clashing names change nothing. It needs git, perl and Go.
set -eu
fail() {
	echo "rename: $*" >&2
	exit 2
}
if [ $# -lt 3 ] || [ $# -gt 4 ] || [ -z "$1$2$3" ]; then
	fail "usage: make rename MODULE=github.com/you/orchids NAME=orchid NAMES=orchids [TITLE='Orchid House']"
fi
printf %s "$1" | LC_ALL=C grep -Eqx '[A-Za-z0-9][A-Za-z0-9._~/-]*[A-Za-z0-9]' ||
	fail "MODULE must be a module path such as github.com/you/orchids, not \"$1\""
printf '%s %s' "$2" "$3" | LC_ALL=C grep -Eqx '[a-z]+ [a-z]{3,}' ||
	fail "NAME and NAMES may only have the letters a to z in lower case, and NAMES, the table's name," \
		"needs three or more, not \"$2\" and \"$3\""
case ${4:-} in
*[\'\"\`\\\$\<\>\&]*) fail "TITLE may not have quotes, backslashes or any of \$ < > &, since it becomes part of code" ;;
esac
[ "$2" != "$3" ] || fail "the singular and the plural must differ"
for tool in git perl go; do
	command -v "$tool" >/dev/null || fail "needs $tool: install it first"
done
cd "$(dirname "$0")/.."
git ls-files --error-unmatch go.mod >/dev/null 2>&1 ||
	fail "git doesn't track this folder, and only what it tracks is renamed: first run git init && git add -A"

words=" break case chan const continue default defer else fallthrough for func go goto if import \
interface map package range return select struct switch type var "
packages=" $(go list -f '{{.Name}}{{range .Imports}} {{.}}{{end}}' ./... |
	tr ' ' '\n' | sed 's|.*/||' | grep -vx plants | tr '\n' ' ')"
for name in "$2" "$3"; do
	case $words in *" $name "*) fail "\"$name\" is a word of Go. Nothing has changed: choose another name" ;; esac
	case $packages in
	*" $name "*) fail "\"$name\" is the name of a package in the code. Nothing has changed: choose another name" ;;
	esac
done

old=$(go list -m) m=$1 s=$2 p=$3 t=${4:-}
export old m s p t

# The module path comes first, since it may contain the old words.
rename='BEGIN {
		($old, $m, $s, $p, $t) = @ENV{qw(old m s p t)};
		$t ||= ucfirst("$s Service");
		($id = lc $t) =~ s{[^a-z0-9]}{}g;
	}
	s{\Q$old\E(?![\w.-])}{\0}g;
	s{Plant Store|plant store}{$t}g; s{plantstore}{$id}g;
	s{plants}{$p}g; s{Plants}{ucfirst $p}ge; s{PLANTS}{uc $p}ge;
	s{plant}{$s}g; s{Plant}{ucfirst $s}ge; s{PLANT}{uc $s}ge;
	s{\0}{$m}g'

rename_tree() {
	git grep -IlzE '' -- ':!LICENSE' ':!go.sum' | xargs -0 perl -pi -e "$rename"
	git ls-files | while read -r from; do
		to=$(printf %s "$from" | perl -pe "$rename")
		if [ "$from" != "$to" ]; then
			mkdir -p "$(dirname "$to")"
			git mv "$from" "$to"
		fi
	done
	find . -depth -type d -empty ! -path './.git/*' -exec rmdir {} \;
	gofmt -w .
}

# Rename a copy first, so that clashing names change nothing here.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z | tar -cf - --null -T - | tar -xf - -C "$copy"
(
	cd "$copy"
	git init -q
	git add -A
	rename_tree
	errors=$(go vet -tags contract,deployment,docker,issuers ./... 2>&1) ||
		fail "the new names clash with names in the code, for example in these lines:
$(echo "$errors" | head -n 5)
Nothing has changed: choose other names, or rename those in the code first"
)
rename_tree
echo "renamed; now run: make snapshot && go test ./..."
