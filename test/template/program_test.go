package template

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
)

// program is what the template has to agree with.
type program struct {
	environment []string // the names of the variables that the function reads
	calls       []string // what it calls, each as an action and a resource
	table       node     // the schema of its table, as CloudFormation has it
}

func readProgram(t *testing.T) program {
	t.Helper()
	return program{environment: environment(t), calls: calls(t), table: table(t)}
}

// environment returns the variables of package config, the SDK's one for
// DynamoDB Local, and those of Go's runtime.
func environment(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../internal/config/config.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"AWS_ENDPOINT_URL_DYNAMODB", "GOGC", "GOMAXPROCS"}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !spec.Names[0].IsExported() || len(spec.Values) == 0 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	if !slices.Contains(names, "TABLE_NAME") {
		t.Fatalf("found no TABLE_NAME among the names of package config, but %q", names)
	}
	slices.Sort(names)
	return names
}

// calls returns what the store asks of DynamoDB when all of it is used.
func calls(t *testing.T) []string {
	t.Helper()
	const tableName = "the-table"
	var mu sync.Mutex
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ TableName, IndexName string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.TableName != tableName {
			t.Errorf("a call for the table %q: %v", in.TableName, err)
		}
		_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		resource := "${PlantTable.Arn}"
		if in.IndexName != "" {
			resource += "/index/" + in.IndexName
		}
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, "dynamodb:"+action+" "+resource)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if action == "Query" {
			io.WriteString(w, `{"Items":[],"Count":0,"ScannedCount":0}`)
			return
		}
		io.WriteString(w, `{}`)
	}))
	defer server.Close()
	client, err := dynamo.NewClient(aws.Config{
		Region:       "local",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &server.URL,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	store := dynamo.New(client, tableName)
	after := int64(1)
	if err := store.Create(t.Context(), "alice", plants.Plant{ID: 7, Name: "Basil"}, "token"); err != nil {
		t.Error(err)
	}
	if err := store.Delete(t.Context(), "alice", 7); err != nil {
		t.Error(err)
	}
	for _, q := range []plants.Query{{Limit: 1}, {Limit: 1, After: &after}} {
		if _, err := store.List(t.Context(), "alice", q); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// table returns what the program's schema is in the words of CloudFormation,
// which are those of the API.
func table(t *testing.T) node {
	t.Helper()
	in := dynamo.TableInput("the-table")
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var n node
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	delete(n, "TableName")
	prune(n)
	return n
}

// prune removes what isn't set.
func prune(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			prune(e)
		}
	case node:
		for key, e := range v {
			if e == nil {
				delete(v, key)
			}
			prune(e)
		}
	}
}

func TestProgram(t *testing.T) {
	p := readProgram(t)
	wantCalls := []string{
		"dynamodb:DeleteItem ${PlantTable.Arn}",
		"dynamodb:PutItem ${PlantTable.Arn}",
		"dynamodb:Query ${PlantTable.Arn}/index/owner-index",
	}
	if !slices.Equal(p.calls, wantCalls) {
		t.Errorf("the store calls %q, want %q", p.calls, wantCalls)
	}
	if got := str(p.table, "KeySchema", 0, "AttributeName"); got != "id" {
		t.Errorf("the table's key is %q, want id", got)
	}
	if got := str(p.table, "ResourcePolicy") + str(p.table, "GlobalSecondaryIndexes", 0, "OnDemandThroughput"); got != "" {
		t.Errorf("what isn't set is %s", got)
	}
	if len(p.environment) < 10 {
		t.Errorf("the program reads %q, want the seven of package config and three more", p.environment)
	}
}
