// Command pocketbase compares the embedded store of the plain server with
// PocketBase, both over HTTP, and prints the table of docs/benchmarks.md.
//
// It has a module of its own, so that the service does not depend on PocketBase.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"example.com/plantstore/test/bench/report"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := servePocketBase(); err != nil {
			fmt.Fprintln(os.Stderr, "pocketbase:", err)
			os.Exit(1)
		}
		return
	}
	rounds := flag.Int("rounds", 5, "number of `rounds`; in each, every program is measured for a second per row")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		os.Exit(1)
	}
}

// The rows of the table.
var rows = []struct {
	name    string
	clients int
	send    func(peer) error
}{
	{"create, 1 client", 1, peer.create},
	{"create, 8 clients", 8, peer.create},
	{"create, 64 clients", 64, peer.create},
	{"list of 100, 1 client", 1, peer.list},
	{"list of 100, 8 clients", 8, peer.list},
	{"delete, 1 client", 1, peer.delete},
	{"delete, 8 clients", 8, peer.delete},
}

// run measures both programs in turns, so that background load affects both.
func run(rounds int) error {
	dir, err := os.MkdirTemp("", "bench-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(context.Background())
	var processes []*exec.Cmd
	defer func() {
		stop()
		for _, p := range processes {
			p.Wait()
		}
	}()
	var peers []peer
	for _, start := range []func(context.Context, string) (peer, *exec.Cmd, error){startPlantStore, startPocketBase} {
		p, process, err := start(ctx, dir)
		if process != nil {
			processes = append(processes, process)
		}
		if err != nil {
			return err
		}
		peers = append(peers, p)
	}
	t := report.Table{Title: "Requests per second over HTTP, compared with PocketBase", Columns: []string{"PocketBase", "Plant Store"}}
	for _, row := range rows {
		t.Rows = append(t.Rows, report.Row{Name: row.name, Format: "%.0f", Values: make([]float64, 2)})
	}
	for range rounds {
		for i, row := range rows {
			for column, p := range []peer{peers[1], peers[0]} {
				rate, err := measure(row.clients, func() error { return row.send(p) })
				if err != nil {
					return fmt.Errorf("%s, %s: %w", t.Columns[column], row.name, err)
				}
				t.Rows[i].Values[column] += rate / float64(rounds)
			}
		}
	}
	t.Write(os.Stdout)
	return nil
}

// measure returns how many requests per second the clients send together in a
// second, or until there are no plants to delete.
func measure(clients int, send func() error) (rate float64, err error) {
	type result struct {
		sent int
		err  error
	}
	results := make(chan result)
	start := time.Now()
	for range clients {
		go func() {
			var r result
			for ; r.err == nil && time.Since(start) < time.Second; r.sent++ {
				r.err = send()
			}
			if errors.Is(r.err, errNoPlants) {
				r.sent, r.err = r.sent-1, nil
			}
			results <- r
		}()
	}
	sent := 0
	for range clients {
		r := <-results
		sent += r.sent
		if r.err != nil {
			err = r.err
		}
	}
	return float64(sent) / time.Since(start).Seconds(), err
}

// startPlantStore builds and starts the plain server.
func startPlantStore(ctx context.Context, dir string) (peer, *exec.Cmd, error) {
	program := filepath.Join(dir, "local")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/local")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	process := exec.CommandContext(ctx, program, "-addr", "127.0.0.1:0", "-data", filepath.Join(dir, "plants"))
	stderr, err := process.StderrPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := process.Start(); err != nil {
		return nil, nil, err
	}
	var base string
	if _, err := fmt.Fscanf(stderr, "listening on %s\n", &base); err != nil {
		return nil, process, fmt.Errorf("the plain server did not start: %w", err)
	}
	p, err := newPlantStore(base)
	return p, process, err
}

// startPocketBase starts this program once more, as PocketBase.
func startPocketBase(ctx context.Context, dir string) (peer, *exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	const addr = "127.0.0.1:8095"
	// Of a program in a temporary directory, as by go run, it assumes --dev.
	process := exec.CommandContext(ctx, self, "serve", "--dev=false", "--http", addr, "--dir", filepath.Join(dir, "pb_data"))
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		return nil, nil, err
	}
	p := &pocketBase{}
	if _, err := fmt.Fscanf(stdout, "user %s token %s\n", &p.user, &p.token); err != nil {
		return nil, process, fmt.Errorf("PocketBase did not start: %w", err)
	}
	p.base = "http://" + addr + "/api/collections/plants/records"
	for range 100 { // it prints the line before it listens
		if err = p.list(); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return p, process, err
}
