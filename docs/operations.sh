# Functions for the commands of docs/deployment.md and docs/operations.md, in bash or zsh:
#
#	export CONFIG_ENV=default
#	. docs/operations.sh
#
# CONFIG_ENV is a profile of samconfig.toml. All functions take the stack from it, and so does
# make, unless STACK is set.
unset STACK

# stack prints the name of the stack.
stack() {
	case ${CONFIG_ENV:-} in
	default) echo plants ;;
	production) echo plants-production ;;
	*)
		echo 'first choose the stack: export CONFIG_ENV=default, or export CONFIG_ENV=production' >&2
		return 1
		;;
	esac
}

# output NAME prints an output of the stack.
output() {
	stack >/dev/null && aws cloudformation describe-stacks --stack-name "$(stack)" \
		--query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}

# resource NAME prints the ID of a resource of template.yaml.
resource() {
	stack >/dev/null && aws cloudformation describe-stack-resource --stack-name "$(stack)" --logical-resource-id "$1" \
		--query StackResourceDetail.PhysicalResourceId --output text
}

# program_client SUBCOMMAND [OPTION…] runs a command of aws cognito-idp with the client of programs.
program_client() {
	aws cognito-idp "$@" --user-pool-id "$(output UserPoolId)" --client-id "$(output MachineClientId)"
}

# query NAME [MINUTES] searches a log with CloudWatch Logs Insights, by default the last hour.
query() {
	log=FunctionLogGroup
	case $1 in
	failures)
		text='filter ispresent(cause)
			| stats count(*) as lines, latest(cause) as example by msg, status, error, route
			| sort lines desc'
		;;
	causes) text='filter ispresent(cause) | stats count(*) as lines by status, cause | sort lines desc' ;;
	callers) text='filter ispresent(sub) | stats count(*) as requests by sub, route, status | sort requests desc' ;;
	slow)
		text='filter ispresent(duration_ms)
			| fields @timestamp, duration_ms, method, route, status, request_id, apigw_request_id
			| sort duration_ms desc | limit 50'
		;;
	crashes)
		text='filter type = "platform.report" and record.status != "success"
			| fields @timestamp, record.status, record.metrics.maxMemoryUsedMB, record.requestId'
		;;
	gateway)
		log=AccessLogGroup
		text='filter function_status != "200"
			| stats count(*) as requests by status, function_status, function_error, source_ip, bin(5m)
			| sort requests desc'
		;;
	*)
		echo 'query failures, causes, callers, slow, crashes or gateway' >&2
		return 1
		;;
	esac
	now=$(date +%s)
	query=$(aws logs start-query --log-group-name "$(output $log)" --start-time $((now - ${2:-60} * 60)) \
		--end-time "$now" --query-string "$text" --query queryId --output text) || return
	while state=$(aws logs get-query-results --query-id "$query" --query status --output text); do
		case $state in Scheduled | Running) sleep 1 ;; *) break ;; esac
	done
	aws logs get-query-results --query-id "$query" --output text \
		--query "results[*].[join('  ', [?field != '@ptr'].join('=', [field, value]))]"
}

# deploy_with PARAMETER=VALUE… deploys with these parameters in place of those in samconfig.toml.
deploy_with() {
	stack >/dev/null && make build && sam deploy --config-env "$CONFIG_ENV" --parameter-overrides "$@"
}

# versions lists the function's versions, with their descriptions: see VersionDescription in template.yaml.
versions() {
	aws lambda list-versions-by-function --function-name "$(resource PlantFunction)" \
		--query 'Versions[].[Version,LastModified,Description]' --output text
}

# use_version VERSION gives all traffic to a version, and prints the version that had it.
use_version() {
	aws lambda get-alias --function-name "$(resource PlantFunction)" --name live --query FunctionVersion --output text &&
		aws lambda update-alias --function-name "$(resource PlantFunction)" --name live \
			--function-version "${1:?}" --routing-config AdditionalVersionWeights={} >/dev/null
}

# stop_function makes every request fail with 5xx, until start_function.
stop_function() {
	aws lambda put-function-concurrency --function-name "$(resource PlantFunction)" --reserved-concurrent-executions 0
}
start_function() { aws lambda delete-function-concurrency --function-name "$(resource PlantFunction)"; }

# stop_deployment ends a deployment that shifts traffic, and rolls it back.
stop_deployment() {
	aws deploy stop-deployment --auto-rollback-enabled --deployment-id "$(
		aws deploy list-deployments --application-name "$(resource ServerlessDeploymentApplication)" \
			--deployment-group-name "$(resource PlantFunctionDeploymentGroup)" \
			--include-only-statuses InProgress --query 'deployments[0]' --output text
	)"
}

# restore_table TIME NEW_TABLE restores the stack's table as it was at that time to a new one.
restore_table() {
	aws dynamodb restore-table-to-point-in-time --source-table-name "$(output TableName)" \
		--restore-date-time "${1:?}" --target-table-name "${2:?}" || return
	until aws dynamodb wait table-exists --table-name "$2"; do # it gives up after 8 minutes
		aws dynamodb describe-table --table-name "$2" >/dev/null || return
	done
	aws dynamodb update-continuous-backups --table-name "$2" \
		--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true
	aws dynamodb update-table --table-name "$2" --deletion-protection-enabled
}

# ids TABLE SUB prints the ids of an owner's plants, perhaps without those of the last second.
ids() {
	aws dynamodb query --table-name "${1:?}" --index-name owner-index --key-condition-expression '#owner = :owner' \
		--expression-attribute-names '{"#owner": "owner"}' \
		--expression-attribute-values '{":owner": {"S": "'"${2:?}"'"}}' --query 'Items[].[id.N]' --output text
}

# copy_plants FROM_TABLE TO_TABLE SUB copies an owner's plants. An id that is in use there prints a
# ConditionalCheckFailedException, and isn't copied.
copy_plants() {
	ids "${1:?}" "${3:?}" | while read -r id; do
		item=$(aws dynamodb get-item --table-name "$1" --key '{"id": {"N": "'"$id"'"}}' --query Item --output json)
		aws dynamodb put-item --table-name "$2" --item "$item" --condition-expression 'attribute_not_exists(id)'
	done
}

# move_plants TABLE OLD_SUB NEW_SUB gives an owner's plants to another.
move_plants() {
	ids "${1:?}" "${2:?}" | while read -r id; do
		aws dynamodb update-item --table-name "$1" --key '{"id": {"N": "'"$id"'"}}' \
			--update-expression 'SET #owner = :new' --condition-expression '#owner = :old' \
			--expression-attribute-names '{"#owner": "owner"}' \
			--expression-attribute-values '{":old": {"S": "'"$2"'"}, ":new": {"S": "'"${3:?}"'"}}'
	done
}

# delete_plants TABLE SUB deletes an owner's plants.
delete_plants() {
	ids "${1:?}" "${2:?}" | while read -r id; do
		aws dynamodb delete-item --table-name "$1" --key '{"id": {"N": "'"$id"'"}}' \
			--condition-expression '#owner = :owner' --expression-attribute-names '{"#owner": "owner"}' \
			--expression-attribute-values '{":owner": {"S": "'"$2"'"}}'
	done
}

stack || return
resource PlantFunction || true # before the first deployment, this is an error
