package dynamo

// Actions are the DynamoDB actions that a [Store] uses, by the kind of resource
// that it uses them on: the table or its index. They are the permissions that
// the function needs; FunctionRole in template.yaml grants them.
var Actions = map[string][]string{
	"table": {"dynamodb:DeleteItem", "dynamodb:PutItem"},
	"index": {"dynamodb:Query"},
}
