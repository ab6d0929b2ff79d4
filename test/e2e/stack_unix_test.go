//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/test/sam"
	"example.com/plantstore/test/tools"
)

// stack.sh runs the suite as two users of the stack's user pool, and deletes them
// however the suite ends.
func TestStackScript(t *testing.T) {
	t.Parallel()
	tools.Need(t, "bash", "openssl")
	installed := sam.Open(t)
	for name, tt := range map[string]struct {
		pool, make, want string
		fails            bool
	}{
		"suite passes": {"pool-1", `echo "$* $PLANTS_TOKEN_1 $PLANTS_TOKEN_2"`, "acceptance BASE=https://plants.example token-1 token-2\n", false},
		"suite fails":  {"pool-1", "exit 2", "", true},
		"no user pool": {"", "", "stack plants has no user pool", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			users := &userPool{passwords: map[string]string{}}
			cognito := httptest.NewServer(users)
			defer cognito.Close()
			stacks := httptest.NewServer(stackWith(map[string]string{"BaseUrl": "https://plants.example", "UserPoolId": tt.pool, "ClientId": "client-1"}))
			defer stacks.Close()
			commands := installed.AWS(t)
			if err := os.WriteFile(filepath.Join(commands, "make"), []byte("#!/bin/sh\n"+tt.make+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "./stack.sh", "plants")
			cmd.Env = append(installed.Python(t.Context()).Env, "AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER="+cognito.URL,
				"AWS_ENDPOINT_URL_CLOUDFORMATION="+stacks.URL, "PATH="+commands+":"+os.Getenv("PATH"), "GITHUB_ACTIONS=")
			out, err := cmd.CombinedOutput()
			if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
				t.Errorf("error %v, want one: %t; output %q, want %q", err, tt.fails, out, tt.want)
			}
			if wantUsers := tt.pool != ""; (users.created == 2) != wantUsers || len(users.passwords) > 0 {
				t.Errorf("%d users were created, %d remain", users.created, len(users.passwords))
			}
		})
	}
}

// stackWith returns the API of CloudFormation for a stack with the given outputs.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
func stackWith(outputs map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "DescribeStacks" || r.FormValue("StackName") != "plants" {
			http.Error(w, "unexpected request", http.StatusBadRequest)
			return
		}
		io.WriteString(w, "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>")
		for key, value := range outputs {
			if value != "" {
				fmt.Fprintf(w, "<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>", key, value)
			}
		}
		io.WriteString(w, "</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>")
	}
}

// A userPool is the API of Cognito for the user pool pool-1.
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_Operations.html
type userPool struct {
	created   int
	passwords map[string]string // by user
}

func (p *userPool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		UserPoolID, Username, Password, MessageAction, ClientID, AuthFlow string
		Permanent                                                         bool
		AuthParameters                                                    map[string]string
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_, exists := p.passwords[in.Username]
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch admin := err == nil && in.UserPoolID == "pool-1"; {
	case operation == "AdminCreateUser" && admin && in.MessageAction == "SUPPRESS":
		p.created++
		p.passwords[in.Username] = ""
		io.WriteString(w, `{"User": {}}`)
	case operation == "AdminSetUserPassword" && admin && exists && in.Permanent:
		p.passwords[in.Username] = in.Password
		io.WriteString(w, "{}")
	case operation == "AdminDeleteUser" && admin && exists:
		delete(p.passwords, in.Username)
		io.WriteString(w, "{}")
	case operation == "InitiateAuth" && in.ClientID == "client-1" && in.AuthFlow == "USER_PASSWORD_AUTH" &&
		in.AuthParameters["PASSWORD"] != "" && in.AuthParameters["PASSWORD"] == p.passwords[in.AuthParameters["USERNAME"]]:
		fmt.Fprintf(w, `{"AuthenticationResult": {"AccessToken": "token-%d"}}`, p.created)
	default:
		http.Error(w, `{"__type": "InvalidParameterException"}`, http.StatusBadRequest)
	}
}
