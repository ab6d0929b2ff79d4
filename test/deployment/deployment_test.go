//go:build deployment

// Package deployment deploys template.yaml to a stand-in for AWS, with the commands of
// the pages, and uses the service there. standin.py describes what the stand-in can't show.
package deployment

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	deploymentPage = "docs/deployment.md"
	operationsPage = "docs/operations.md"
)

// TestDeployment is the life of a stack. Each step needs the earlier steps.
func TestDeployment(t *testing.T) {
	a := newAccount(t)
	for _, step := range []struct {
		name string
		run  func(*testing.T, *account)
	}{
		{"deploy", firstDeployment},
		{"new version", newVersion},
		{"return to the earlier version", earlierVersion},
		{"new parameters", newParameters},
		{"session", acceptance},
		{"refused parameters", refused},
		{"restore", restore},
		{"from the file", fromFile},
		{"remove", remove},
		{"adopt", adopt},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, a) }) {
			t.Fatalf("the stand-in's last lines:\n%s", a.log())
		}
	}
}

// firstDeployment deploys a stack with one text in the code changed, creates a user, and
// sends the first requests. The plant with the id 8 remains.
func firstDeployment(t *testing.T, a *account) {
	a.run(t, "sed -i.new 's/no such path/an earlier text/' internal/handlers/*.go && make deploy")
	first := block(t, deploymentPage, "BASE=$(output BaseUrl)")
	printed := a.run(t, first+block(t, deploymentPage, "admin-create-user --user-pool-id")+
		block(t, deploymentPage, "TOKEN=$(aws cognito-idp initiate-auth")+`echo; echo "$TOKEN"`)
	a.set("TOKEN", lastLine(printed))
	a.set("BASE", a.output(t, "BaseUrl"))
	requests := block(t, deploymentPage, `"$BASE/plants?include=id"`)
	created := regexp.MustCompile(`-d '({"id": 7, .*})'`).FindStringSubmatch(requests)
	if created == nil {
		t.Fatalf("no create of plant 7 in\n%s", requests)
	}
	listed := strings.NewReplacer(": ", ":", ", ", ",").Replace(created[1])
	want := fmt.Sprintf("%s\n[%s]\n204", strings.Replace(listed, `"id":7,`, "", 1), listed)
	got := a.run(t, requests)
	if got != want {
		t.Errorf("the first requests get\n%s\nwant\n%s", got, want)
	}
	a.run(t, `curl -sSf -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
		-d '`+plantstest.CreateJSON(plantstest.Example(8))+`' "$BASE/plants"`)
	a.expectPlant(t)
	a.expectUnknownPath(t, "an earlier text")
}

// expectPlant checks that the user still has the plant of firstDeployment.
func (a *account) expectPlant(t *testing.T) {
	t.Helper()
	got := a.run(t, `curl -sS -H "Authorization: Bearer $TOKEN" "$BASE/plants?include=id"`)
	if want := "[" + plantstest.CreateJSON(plantstest.Example(8)) + "]"; got != want {
		t.Errorf("the user's plants are %s, want %s", got, want)
	}
}

// expectUnknownPath checks the response to a request for an unknown path.
func (a *account) expectUnknownPath(t *testing.T, text string) {
	t.Helper()
	if got := a.run(t, `curl -sS "$BASE/nowhere"`); !strings.Contains(got, text) {
		t.Errorf("an unknown path gets %s, want %q", got, text)
	}
}

// newVersion deploys the code of this project, with the command of deploy.yml.
func newVersion(t *testing.T, a *account) {
	revision := a.output(t, "Revision")
	a.run(t, `for file in internal/handlers/*.new; do mv "$file" "${file%.new}"; done
		(umask 077 && make build)
		aws s3 mb s3://artifacts
		`+workflowCommand(t))
	a.expectUnknownPath(t, "no such path")
	if a.output(t, "Revision") == revision {
		t.Errorf("after another build, the output Revision is still %s", revision)
	}
	a.expectPlant(t)
	a.expectExecutable(t)
}

// expectExecutable checks that each user can run the function in the package, as Lambda's does.
func (a *account) expectExecutable(t *testing.T) {
	t.Helper()
	modes := ""
	for file := range strings.FieldsSeq(a.run(t, "aws s3 sync --quiet s3://artifacts uploaded && find uploaded -type f")) {
		if uploaded, err := zip.OpenReader(filepath.Join(a.dir, file)); err == nil { // the other file is the template
			for _, f := range uploaded.File {
				modes += f.Name + " " + f.Mode().String()
			}
			uploaded.Close()
		}
	}
	if modes != "bootstrap -rwxr-xr-x" {
		t.Errorf("the package contains %q, want bootstrap with the mode 0755", modes)
	}
}

// workflowCommand returns the command that deploys to staging in deploy.yml.
func workflowCommand(t *testing.T) string {
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/deploy.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	staging := workflow.Jobs["staging"]
	for _, step := range staging.Steps {
		if strings.HasPrefix(step.Run, "sam deploy ") {
			return "CONFIG_ENV=" + staging.Env["CONFIG_ENV"] + "\n" + strings.NewReplacer(
				"${{ vars.STAGING_BUCKET }}", "artifacts",
				"${{ vars.STAGING_CLOUDFORMATION_ROLE }}", "arn:aws:iam::000000000000:role/cloudformation").Replace(step.Run)
		}
	}
	t.Fatal("deploy.yml: the job staging has no step that begins with sam deploy")
	return ""
}

// earlierVersion moves all traffic to the first version, and back to the second one.
func earlierVersion(t *testing.T, a *account) {
	if bad := lastLine(a.run(t, operations+"use_version 1")); bad != "2" {
		t.Errorf("use_version names the version %s, want 2", bad)
	}
	a.expectUnknownPath(t, "an earlier text")
	a.run(t, operations+"use_version 2")
	a.expectUnknownPath(t, "no such path")
}

// newParameters deploys with other parameters, as somebody who may only deploy. They must
// reach the live version and the API.
func newParameters(t *testing.T, a *account) {
	// The bucket's own policy demands https, which the stand-in doesn't speak.
	a.run(t, `aws s3api delete-bucket-policy --bucket $(aws cloudformation describe-stack-resources \
			--stack-name aws-sam-cli-managed-default --output text \
			--query "StackResources[?ResourceType=='AWS::S3::Bucket'].PhysicalResourceId")
		aws iam create-user --user-name deployer
		aws iam put-user-policy --user-name deployer --policy-name deploy \
			--policy-document file://docs/deploy-policy.json`)
	key, secret, _ := strings.Cut(a.run(t, `aws iam create-access-key --user-name deployer --output text \
		--query 'AccessKey.[AccessKeyId,SecretAccessKey]'`), "\t")
	as := "export AWS_ACCESS_KEY_ID=" + key + " AWS_SECRET_ACCESS_KEY=" + secret + "\n" + operations
	a.run(t, as+`! aws dynamodb scan --table-name "$(output TableName)"`)
	a.run(t, as+"deploy_with LogLevel=debug CorsOrigins=https://pages.example")
	got := lastLine(a.run(t, operations+`aws lambda get-function-configuration --function-name "$(resource PlantFunction)" --qualifier live \
		--query Environment.Variables.LOG_LEVEL --output text`))
	if got != "debug" {
		t.Errorf("after a deployment with LogLevel=debug the live version has LOG_LEVEL=%s", got)
	}
	headers := a.run(t, `curl -sS -o /dev/null -D - -H 'Origin: https://pages.example' "$BASE/plants"`)
	if !strings.Contains(strings.ToLower(headers), "access-control-allow-origin: https://pages.example") {
		t.Errorf("after a deployment with CorsOrigins a page gets\n%s", headers)
	}
}

// acceptance runs the session of test/session against the stack, here with CORS. It must
// leave no users behind.
func acceptance(t *testing.T, a *account) {
	a.runIn(t, "../..", "make acceptance-stack")
	users := a.run(t, `aws cognito-idp list-users --query 'Users[].Username' --output text --user-pool-id `+
		a.output(t, "UserPoolId"))
	if users != "alice" {
		t.Errorf("after the session the pool contains the users %s, want alice", users)
	}
	a.expectPlant(t)
}

// refused deploys an invalid parameter, which the error must name.
func refused(t *testing.T, a *account) {
	out := a.run(t, "! sam deploy --parameter-overrides LogLevel=loud 2>&1")
	if !strings.Contains(out, "LogLevel") {
		t.Errorf("a deployment with LogLevel=loud fails with\n%s", out)
	}
	a.expectPlant(t)
}

// restore restores the table to another one, brings back the plant of a user who has lost it, and
// gives the plants in the other table to another owner.
func restore(t *testing.T, a *account) {
	page := block(t, operationsPage, "restore_table")
	now := time.Now().UTC().Add(-time.Second).Format(time.RFC3339)
	a.run(t, operations+strings.Replace(page, "2026-11-21T12:00:00Z", now, 1))
	sub := a.run(t, `aws dynamodb scan --table-name plants-restored --query 'Items[].owner.S' --output text`)
	a.run(t, operations+`delete_plants "$(output TableName)" `+sub)
	if got := a.run(t, `curl -sS -H "Authorization: Bearer $TOKEN" "$BASE/plants"`); got != "[]" {
		t.Errorf("after delete_plants the user still has the plants %s", got)
	}
	a.run(t, operations+strings.Replace(block(t, operationsPage, "copy_plants"), "SUB", sub, 1))
	a.expectPlant(t)
	got := a.run(t, operations+"move_plants plants-restored "+sub+" bob; echo; ids plants-restored bob")
	if lastLine(got) != "8" {
		t.Errorf("after move_plants bob has the plants %s, want 8", lastLine(got))
	}
}

// remove deletes the stack, but the table and the user pool must remain.
func remove(t *testing.T, a *account) {
	out := a.run(t, operations+block(t, deploymentPage, "make delete")+`echo; echo "$TABLE $POOL"`)
	table, pool, _ := strings.Cut(lastLine(out), " ")
	a.set("TABLE", table)
	a.set("POOL", pool)
	a.run(t, "! aws cloudformation describe-stacks --stack-name plants 2>&1")
	a.run(t, `aws dynamodb describe-table --table-name "$TABLE"`)
	a.run(t, `aws cognito-idp describe-user-pool --user-pool-id "$POOL"`)
}

// adopt deploys a new stack for the old table and pool. Users must find their plants.
func adopt(t *testing.T, a *account) {
	a.run(t, operations+block(t, operationsPage, "CLIENTS=$(aws cognito-idp list-user-pool-clients"))
	a.set("BASE", a.output(t, "BaseUrl"))
	a.expectPlant(t)
}

// lastLine returns the last line of a text.
func lastLine(text string) string { return text[strings.LastIndex(text, "\n")+1:] }

// block returns the only sh block of a page that contains the text.
func block(t *testing.T, page, text string) (found string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$").FindAllStringSubmatch(readFile(t, page), -1) {
		if !strings.Contains(m[1], text) {
			continue
		}
		if found != "" {
			t.Fatalf("%s contains several blocks of commands with %s", page, text)
		}
		found = m[1]
	}
	if found == "" {
		t.Fatalf("%s contains no block of commands with %s", page, text)
	}
	return found
}

// readFile reads a file in the top folder of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
