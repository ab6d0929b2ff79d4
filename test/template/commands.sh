# Runs the commands of the pages on AWS, in the order of the pages, with moto in place of
# AWS, and checks what they have changed there; TestAWSCommands calls it. It must notice a
# command that the AWS CLI rejects, one that asks for something that the stack doesn't
# have, and one that uses a variable that no command before it has set. Moto checks no
# permissions, and restores a table as it is now.
set -Eeuo pipefail
root=$PWD/../..
cd "$1" # an empty folder
mkdir docs

# page runs the sh blocks of a page. Its other lines become empty, so that the shell
# reports the numbers of the page's lines. What the commands print is then in $printed.
page() {
	page=$1
	awk '/^ *```sh$/ { code = 1; print ""; next } /^ *```$/ { code = 0 } { print code ? $0 : "" }' "$root/$page" >"$page"
	grep -q . "$page" || wrong "has no sh block"
	. "$page" >printed
	printed=$(<printed)
}
trap 'echo "${BASH_SOURCE[0]}:$LINENO: this fails with status $?: $BASH_COMMAND" >&2' ERR

wrong() {
	echo "$page: $*: correct its commands" >&2
	exit 1
}
prints() { [[ $printed == *$'\n'$1* ]] || wrong "the commands print no line that begins with '$1', but"$'\n'"$printed"; }
# then_prints checks what another command prints after the page's.
then_prints() {
	local got
	got=$("${@:2}")
	[ "$got" = "$1" ] || wrong "after its commands, '${*:2}' prints '$got', not '$1'"
}

# These need more than moto: SAM, this repository, a running service or a machine to
# install it on. So they aren't run.
sam() { echo "sam $*"; }
make() { :; }
git() { :; }
go() { :; }
cp() { :; }
docker() { :; }
sudo() { :; }
curl() { echo '{"access_token":"token"}'; }
sleep() { :; }

# What readers know.
TOKEN=token OTHER_TOKEN=token ID=id SECRET=secret CERTIFICATE=arn
OLD=alice NEW=bob

page docs/operations.md
prints $'1\n1\n' # plants in the table, and in the restored one
prints 'sam deploy --parameter-overrides ExistingTable=plants-restored '
prints 'sam deploy --parameter-overrides ExistingTable=plants-PlantTable-'
restored='dynamodb describe-table --table-name plants-restored --output text --query' # is like the stack's table
then_prints ENABLED aws dynamodb describe-continuous-backups --table-name plants-restored --output text \
	--query '*.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus'
then_prints True aws $restored Table.DeletionProtectionEnabled
then_prints owner-index aws $restored 'Table.GlobalSecondaryIndexes[].IndexName'
live=(--function-name "$FUNCTION" --name live --output text --query)
then_prints $'41\tNone' aws lambda get-alias "${live[@]}" '[FunctionVersion,RoutingConfig.AdditionalVersionWeights."1"]' # no canary any more
then_prints bob aws dynamodb get-item --table-name "$TABLE" --key '{"id": {"N": "7"}}' --output text --query Item.owner.S
prints "sam deploy --parameter-overrides ExistingTable=$TABLE RequireScopes=false TokenIssuer=https://cognito-idp.$AWS_REGION.amazonaws.com/$POOL TokenAudience="
[[ $CLIENTS =~ ^[a-z0-9]+,[a-z0-9]+$ ]] || wrong "the pool has two clients, not '$CLIENTS'"
[[ $(<owners.txt) =~ ^carol$'\t'[0-9a-f-]{36}$ ]] || wrong "owners.txt has no sub of carol: $(<owners.txt)"

page docs/deployment.md
then_prints plants-restored aws dynamodb list-tables --query TableNames --output text # the stack's is deleted
then_prints '[]' aws cognito-idp list-user-pools --max-results 9 --query UserPools --output json
