package template

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const deployRole = ".github/deploy-role.yaml"

// unused are the actions, and the services, that CloudFormation needs for
// properties that the resources of the templates don't have. IAM doesn't know the
// two of API Gateway, whose tags are set by POST.
var unused = strings.Fields(`
	apigateway:TagResource apigateway:UntagResource
	cloudformation:SetStackPolicy cloudformation:UpdateTerminationProtection
	cloudfront ec2 elasticfilesystem firehose kinesis kms s3files
	codedeploy:RegisterOnPremisesInstance
	cognito-idp:AddCustomAttributes
	dynamodb:AssociateTableReplica dynamodb:CreateTableReplica dynamodb:BatchWriteItem dynamodb:DeleteItem
	dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:Scan dynamodb:UpdateItem
	dynamodb:DeleteResourcePolicy dynamodb:PutResourcePolicy dynamodb:DescribeImport dynamodb:ImportTable
	dynamodb:DisableKinesisStreamingDestination dynamodb:EnableKinesisStreamingDestination dynamodb:UpdateKinesisStreamingDestination
	dynamodb:UpdateContributorInsights dynamodb:UpdateTimeToLive
	iam:CreateServiceLinkedRole iam:DeleteRolePermissionsBoundary iam:PutRolePermissionsBoundary
	lambda:AssociateRuntimeAlias lambda:PutRuntimeManagementConfig
	lambda:DeleteFunctionCodeSigningConfig lambda:GetCodeSigningConfig lambda:PutFunctionCodeSigningConfig
	lambda:DeleteFunctionConcurrency lambda:PutFunctionConcurrency
	lambda:DeleteProvisionedConcurrencyConfig lambda:PutProvisionedConcurrencyConfig
	lambda:GetLayerVersion lambda:PassCapacityProvider lambda:PutFunctionRecursionConfig lambda:PutFunctionScalingConfig
	logs:AssociateKmsKey logs:DisassociateKmsKey logs:CreateLogStream logs:DescribeLogStreams logs:PutLogEvents
	logs:DeleteIndexPolicy logs:PutIndexPolicy logs:PutDataProtectionPolicy
	logs:DeleteRetentionPolicy logs:PutBearerTokenAuthentication logs:PutLogGroupDeletionProtection
	s3:GetObjectMetadata s3:ListBucket s3:REST.PUT.OBJECT s3:getObject
`)

// further are the actions that CloudFormation needs and its schemas don't list:
// for the access log of an HTTP API and for SAM's transform, see
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging.html
// and https://docs.aws.amazon.com/lambda/latest/dg/build-pipeline.html.
var further = strings.Fields(`
	cloudformation:CreateChangeSet
	logs:CreateLogDelivery logs:DeleteLogDelivery logs:GetLogDelivery logs:ListLogDeliveries logs:UpdateLogDelivery
	logs:DeleteResourcePolicy logs:PutResourcePolicy
`)

// CloudFormation's role in .github/deploy-role.yaml allows what it needs to
// create, update and delete the resources of the templates, and nothing else.
func TestDeployRole(t *testing.T) {
	t.Parallel()
	for _, finding := range do(t, job{Lint: readFile(t, deployRole)}).Findings {
		t.Errorf("%s: %s", deployRole, finding)
	}
	permissions := rolePermissions(t, "CloudFormationRole")
	checkActions(t, permissions, neededActions(t))
	checkResources(t, permissions)
}

// The workflow's role allows what sam deploy and the tests after it call.
func TestWorkflowRole(t *testing.T) {
	t.Parallel()
	needed := map[string]string{}
	for _, action := range strings.Fields(`
		cloudformation:CreateChangeSet cloudformation:DescribeChangeSet cloudformation:DescribeStackEvents cloudformation:DescribeStacks
		cloudformation:ExecuteChangeSet cloudformation:GetTemplateSummary iam:PassRole s3:GetObject s3:PutObject`) {
		needed[action] = "sam deploy"
	}
	commands := readFile(t, "Makefile") + readFile(t, "test/e2e/stack.sh")
	for _, m := range regexp.MustCompile(`\baws ([a-z-]+) ([a-z-]+) `).FindAllStringSubmatch(commands, -1) {
		action := m[1] + ":"
		for word := range strings.SplitSeq(m[2], "-") {
			action += strings.ToUpper(word[:1]) + word[1:]
		}
		switch action {
		case "cognito-idp:InitiateAuth": // needs no permission
			continue
		case "lambda:Invoke":
			action = "lambda:InvokeFunction"
		}
		needed[action] = m[0]
	}
	checkActions(t, rolePermissions(t, "DeployRole"), needed)
}

// rolePermissions returns what a role of deployRole allows, as "action resource".
func rolePermissions(t *testing.T, name string) []string {
	t.Helper()
	return do(t, job{Template: readFile(t, deployRole), Parameters: map[string]string{"StackName": "plants"}}).allowed(name)
}

// checkActions checks that the permissions are for the needed actions, which are
// the keys, and for no others.
func checkActions(t *testing.T, permissions []string, needed map[string]string) {
	t.Helper()
	allowed := map[string]bool{}
	for _, permission := range permissions {
		action, _, _ := strings.Cut(permission, " ")
		allowed[action] = true
	}
	for _, action := range slices.Sorted(maps.Keys(needed)) {
		if !allowed[action] {
			t.Errorf("%s: allow %s: needed for %s", deployRole, action, needed[action])
		}
	}
	for action := range allowed {
		if needed[action] == "" {
			t.Errorf("%s: remove %s, which isn't needed", deployRole, action)
		}
	}
}

// checkResources checks that the permissions are for the names that CloudFormation
// gives to the resources of the stack plants, and for no others: plants-* would
// match those of plants-production, too.
func checkResources(t *testing.T, permissions []string) {
	t.Helper()
	arns := map[string]string{
		"AWS::CloudFormation::Stack":   "cloudformation:eu-central-1:${AWS::AccountId}:stack/",
		"AWS::CodeDeploy::Application": "codedeploy:eu-central-1:${AWS::AccountId}:application:",
		"AWS::DynamoDB::Table":         "dynamodb:eu-central-1:${AWS::AccountId}:table/",
		"AWS::IAM::Role":               "iam::${AWS::AccountId}:role/",
		"AWS::Lambda::Function":        "lambda:eu-central-1:${AWS::AccountId}:function:",
		"AWS::Logs::LogGroup":          "logs:eu-central-1:${AWS::AccountId}:log-group:",
	}
	for name, r := range deploy(t, nil).Resources {
		suffix := " arn:aws:" + arns[r.Type] + "plants-" + name + "-*"
		named := r.Properties["FunctionName"] != nil || r.Properties["LogGroupName"] != nil // by the template
		if arns[r.Type] != "" && !named && !slices.ContainsFunc(permissions, func(p string) bool { return strings.HasSuffix(p, suffix) }) {
			t.Errorf("%s: allow actions on%s", deployRole, suffix)
		}
	}
	for _, permission := range permissions {
		if strings.HasSuffix(permission, "plants-*") && !strings.Contains(permission, ":alarm:") {
			t.Errorf("%s: name the resources of %s", deployRole, permission)
		}
	}
	// Creating the nested stack takes it; the schema doesn't say of which role.
	if !slices.Contains(permissions, "iam:PassRole ${CloudFormationRole.Arn}") {
		t.Errorf("%s: allow CloudFormation to pass its own role on to the nested stack", deployRole)
	}
}

// neededActions returns the actions that CloudFormation needs for the stack, with
// the type of a resource that needs them.
func neededActions(t *testing.T) map[string]string {
	t.Helper()
	needed := map[string]string{}
	for _, action := range further {
		needed[action] = "the access log or the transform"
	}
	for _, template := range []string{"template.yaml", "monitoring.yaml"} {
		for kind, actions := range do(t, job{Template: readFile(t, template)}).Permissions {
			for _, action := range actions {
				service, _, _ := strings.Cut(action, ":")
				if !slices.Contains(unused, action) && !slices.Contains(unused, service) {
					needed[action] = kind
				}
			}
		}
	}
	return needed
}

// The workflows deploy with the version of SAM that the tests use, and run no
// action that its author can change afterwards.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`(?m)^aws-sam-cli==(.*)$`).FindStringSubmatch(readFile(t, "test/sam/requirements.txt"))
	if deploy := readFile(t, ".github/workflows/deploy-stack.yml"); version == nil || !strings.Contains(deploy, "version: "+version[1]+"\n") {
		t.Errorf("deploy-stack.yml: install version %q of SAM, as test/sam/requirements.txt", version)
	}
	pinned := regexp.MustCompile(`^(\./.*|.*@[0-9a-f]{40} # v[0-9.]+)$`)
	for _, name := range []string{"ci", "deploy", "deploy-stack"} {
		for _, m := range regexp.MustCompile(`(?m)uses: (.*)$`).FindAllStringSubmatch(readFile(t, ".github/workflows/"+name+".yml"), -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s.yml: pin %s by the hash of a commit", name, m[1])
			}
		}
	}
}
