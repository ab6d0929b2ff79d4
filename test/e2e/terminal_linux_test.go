package e2e

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"example.com/plantstore/test/program"
)

// On a terminal the log is human-readable text.
func TestLogOnTerminal(t *testing.T) {
	t.Parallel()
	ours, theirs := openTerminal(t)
	p := &server{Program: program.Command(t, program.Environ(), t.TempDir())}
	p.Cmd.Stdout = theirs
	p.Begin(t)
	theirs.Close()
	p.AwaitListening(t)
	expect(t, newClient(p.target()), p.token(t, TokenRequest{Subject: "alice"}), "GET", 200, 0)
	line, err := bufio.NewReader(ours).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"level=INFO", "method=GET", `route="GET /plants"`, "status=200", "sub=alice", "request_id="} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is missing in the line %s", want, line)
		}
	}
}

// openTerminal returns the two ends of a pseudoterminal: see pty(7).
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	var unlock, number int32
	for _, call := range []struct {
		request uintptr
		arg     *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), call.request, uintptr(unsafe.Pointer(call.arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}
