#!/usr/bin/env bash
# Runs the session of test/session against a deployed stack: test/e2e/stack.sh plants
# The users are those in the environment (see TestDeployment), or else two that it creates in
# the stack's user pool and deletes.
set -euo pipefail
CDPATH= cd "$(dirname "$0")/../.."

stack=$1
outputs=$(aws cloudformation describe-stacks --stack-name "$stack" \
	--query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text)
output() { awk -v key="$1" '$1 == key { print $2 }' <<<"$outputs"; }
base=$(output BaseUrl) pool=$(output UserPoolId) client=$(output ClientId)
# So that the last line is the result.
accept() { make --no-print-directory acceptance BASE="$base" TOKEN_URL="${TOKEN_URL:-$(output TokenUrl)}"; }

if [ -n "${PLANTS_TOKEN_1:-}${PLANTS_CLIENT_1:-}" ]; then
	accept
	exit
fi
if [ -z "$pool" ]; then
	echo "stack $stack has no user pool: set PLANTS_TOKEN_1 and PLANTS_TOKEN_2 to tokens of its issuer," \
		"or PLANTS_CLIENT_1 to a program's ID:SECRET and TOKEN_URL to the issuer's token_endpoint" >&2
	exit 1
fi

if [ "$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
	--query "Stacks[0].Parameters[?ParameterKey=='RequireScopes'].ParameterValue")" = true ]; then
	echo "stack $stack requires scopes, which tokens of its users don't have:" \
		"set PLANTS_CLIENT_1 to a program's ID:SECRET" >&2
	exit 1
fi

users= # not an array: bash 3.2, that of macOS, takes an empty one for unset
delete_users() {
	for user in $users; do
		aws cognito-idp admin-delete-user --user-pool-id "$pool" --username "$user"
	done
}
trap delete_users EXIT

for n in 1 2; do
	user=acceptance-$(openssl rand -hex 8) password=$(openssl rand -hex 16)
	aws cognito-idp admin-create-user --user-pool-id "$pool" --username "$user" --message-action SUPPRESS >/dev/null
	users="$users $user"
	aws cognito-idp admin-set-user-password --user-pool-id "$pool" --username "$user" --password "$password" --permanent
	token=$(aws cognito-idp initiate-auth --client-id "$client" --auth-flow USER_PASSWORD_AUTH \
		--auth-parameters "USERNAME=$user,PASSWORD=$password" --query AuthenticationResult.AccessToken --output text)
	[ -z "${GITHUB_ACTIONS:-}" ] || echo "::add-mask::$token" # keep it out of the workflow's log
	export "PLANTS_TOKEN_$n=$token"
done
accept
