package lambdalocal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"example.com/plantstore/test/tools"
)

// TestMain runs the tests, or the function if a test started this process as one.
func TestMain(m *testing.M) {
	if os.Getenv("_HANDLER") == "" {
		tools.Main(m)
	}
	if os.Getenv("INIT") == "exit" {
		os.Exit(3)
	}
	lambda.Start(func(event string) (string, error) {
		switch event {
		case "error":
			return "", errors.New("as requested")
		case "exit":
			os.Exit(4)
		case "hang":
			select {}
		}
		return event, nil
	})
}

// Each failure is an error. The process is stopped between invocations.
func TestEnvironment(t *testing.T) {
	for event, want := range map[string]string{
		"": "", "error": "the function failed", "exit": "Runtime.ExitError", "hang": "Sandbox.Timedout", "INIT=exit": "Runtime.ExitError",
	} {
		e, err := NewEnvironment(Options{Binary: os.Args[0], Env: []string{event}, Timeout: time.Second, Freeze: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		_, err = e.Invoke(t.Context(), fmt.Appendf(nil, "%q", event))
		if (err == nil) != (want == "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", event, err, want)
		}
		if event == "" && runtime.GOOS == "linux" {
			tools.Await(t, func() error {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.Cmd.Process.Pid))
				if err == nil && !strings.Contains(string(stat), ") T ") {
					err = errors.New("the process is not stopped")
				}
				return err
			})
		}
	}
}
