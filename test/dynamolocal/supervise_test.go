package dynamolocal

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// roleEnv makes this test binary play a part in one of its own tests.
const roleEnv = "DYNAMOTEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "owner": // starts a server under supervision and waits to be killed
		os.Setenv(roleEnv, "server")
		self, _ := os.Executable()
		s, err := startSupervised([]string{self}, []string{self, os.Getenv("DYNAMOTEST_LEFT")})
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
		io.WriteString(os.Stderr, l.Addr().String()+"\n")
		select {}
	}
	os.Exit(m.Run())
}

// What a test process started ends when that is killed, be it with all its
// group, and is cleaned up.
func TestSupervisedEndsWithUs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "left")
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), roleEnv+"=owner", "DYNAMOTEST_LEFT="+left)
	detach(owner) // a group of its own
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(buf[:n]))
	if conn, err := net.Dial("tcp", address); err != nil {
		t.Fatalf("the server was not there to begin with: %v", err)
	} else {
		conn.Close()
	}

	killGroup(owner)
	owner.Wait()
	eventually(t, "the server ends", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	eventually(t, "what it left is cleaned up", func() bool {
		_, err := os.Stat(left)
		return err == nil
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestSupervisedFails(t *testing.T) {
	s, err := startSupervised([]string{"no-such-command"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ready("http://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("got %v, want an error that names the command", err)
	}
}
