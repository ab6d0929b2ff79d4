package dynamolocal

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// roleEnv makes this test binary play a part in TestSupervisedEndsWithUs.
const roleEnv = "DYNAMOTEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "owner": // starts a server under supervision and waits to be killed
		os.Setenv(roleEnv, "server")
		self, _ := os.Executable()
		s, err := startSupervised([]string{self}, []string{self, os.Getenv("DYNAMOTEST_CLEANED")})
		if err != nil {
			panic(err)
		}
		for !strings.Contains(s.output.String(), "\n") {
			time.Sleep(time.Millisecond)
		}
		io.WriteString(os.Stdout, s.output.String())
		select {}
	case "server": // listens until it is killed, or cleans up
		if len(os.Args) > 1 {
			os.WriteFile(os.Args[1], nil, 0o600)
			return
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, l.Addr())
		select {}
	}
	os.Exit(m.Run())
}

// A supervised command ends, and is cleaned up after, when the process that
// started it is killed.
func TestSupervisedEndsWithUs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cleaned := filepath.Join(t.TempDir(), "cleaned")
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), roleEnv+"=owner", "DYNAMOTEST_CLEANED="+cleaned)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	answers := func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if !answers() {
		t.Fatal("the server has not started")
	}

	owner.Process.Kill()
	owner.Wait()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(cleaned)
		if err == nil && !answers() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("server still running: %t; cleaned up: %v", answers(), err)
		}
	}
}

func TestSupervisedFails(t *testing.T) {
	s, err := startSupervised([]string{"no-such-command"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ready("http://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("got %v, want an error that names the command", err)
	}
}
