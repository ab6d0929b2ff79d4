package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/plantstore/test/program"
	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }

// A server is a program that is measured over HTTP.
type server struct {
	name         string
	plants, page string // addresses of the plants, and of 100 of them
	token        string
	plant        func() (id, body string)
	created      chan string // ids of plants to delete
}

// A request, and how many clients send it at the same time.
type request struct {
	clients int
	name    string
	send    func(*server) error
}

// requests begin with the three of BenchmarkCreate.
var requests = []request{
	{1, "creates", (*server).create},
	{8, "creates", (*server).create},
	{64, "creates", (*server).create},
	{1, "lists", (*server).list},
	{8, "lists", (*server).list},
	{1, "deletes", (*server).delete},
	{8, "deletes", (*server).delete},
}

// BenchmarkCreate measures the creates of the plain server, all on disk.
func BenchmarkCreate(b *testing.B) {
	measure(b, requests[:3], startPlantStore(b))
}

// BenchmarkPeers compares the plain server with PocketBase.
func BenchmarkPeers(b *testing.B) {
	measure(b, requests, startPocketBase(b), startPlantStore(b))
}

// measure reports the requests per second. The servers and the numbers of
// clients take turns, so that background load affects all.
func measure(b *testing.B, requests []request, servers ...*server) {
	rates := make(map[string]float64)
	for b.Loop() {
		for _, r := range requests {
			for _, s := range servers {
				rates[fmt.Sprintf("%s-%s/s/%d", s.name, r.name, r.clients)] += rate(b, r, s)
			}
		}
	}
	for unit, sum := range rates {
		b.ReportMetric(sum/float64(b.N), unit)
	}
}

// errNoPlants means that all plants are deleted.
var errNoPlants = errors.New("no plants to delete")

// rate returns how many requests per second the clients send together in a
// second, or until there are no plants to delete.
func rate(b *testing.B, r request, s *server) float64 {
	var sent atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range r.clients {
		wg.Go(func() {
			for time.Since(start) < time.Second {
				if err := r.send(s); err != nil {
					if !errors.Is(err, errNoPlants) {
						b.Error(err)
					}
					return
				}
				sent.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(sent.Load()) / time.Since(start).Seconds()
}

func (s *server) create() error {
	id, body := s.plant()
	_, err := send("POST", s.plants, s.token, body)
	s.created <- id
	return err
}

func (s *server) list() error {
	_, err := send("GET", s.page, s.token, "")
	return err
}

func (s *server) delete() error {
	select {
	case id := <-s.created:
		_, err := send("DELETE", s.plants+"/"+id, s.token, "")
		return err
	default:
		return errNoPlants
	}
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// send sends a request and returns the body of the response, whose status must be
// of success.
func send(method, url, token, body string) ([]byte, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %s", method, url, resp.StatusCode, b)
	}
	return b, err
}

func startPlantStore(b *testing.B) *server {
	b.Helper()
	p := program.Command(b, program.Environ(), b.TempDir())
	p.Cmd.Stdout = nil // the log
	p.Begin(b)
	p.AwaitListening(b)
	plant := func() (id, body string) {
		id = fmt.Sprint(rand.Int64())
		return id, `{"id":` + id + `,"name":"Basil","tag":"herb"}`
	}
	token := p.Token(b, url.Values{"client_id": {"alice"}})
	return &server{"PlantStore", p.Base + "/plants", p.Base + "/plants?limit=100", token, plant, make(chan string, 1<<20)}
}

// startPocketBase starts PocketBase with its default settings, a collection of
// plants whose rules are those of the service, and a user.
func startPocketBase(b *testing.B) *server {
	b.Helper()
	base := servePocketBase(b)
	type answer struct {
		Token  string
		Record struct{ ID string } // of the user
	}
	post := func(path, token, body string) (a answer) {
		b.Helper()
		resp, err := send("POST", base+path, token, body)
		if err == nil {
			err = json.Unmarshal(resp, &a)
		}
		if err != nil {
			b.Fatal(err)
		}
		return a
	}
	const login = `{"identity": "` + email + `", "password": "` + password + `"}`
	admin := post("/_superusers/auth-with-password", "", login)
	post("", admin.Token, `{"name": "plants", "type": "base",
		"fields": [
			{"type": "text", "name": "name", "required": true, "max": 256},
			{"type": "text", "name": "tag", "max": 256},
			{"type": "relation", "name": "owner", "required": true, "collectionId": "_pb_users_auth_", "maxSelect": 1}
		],
		"indexes": ["CREATE INDEX plants_by_owner ON plants (owner, id)"],
		"listRule": "owner = @request.auth.id",
		"createRule": "@request.auth.id != '' && owner = @request.auth.id",
		"deleteRule": "owner = @request.auth.id"}`)
	post("/users/records", "", `{"email": "`+email+`", "password": "`+password+`", "passwordConfirm": "`+password+`"}`)
	user := post("/users/auth-with-password", "", login)
	plant := func() (id, body string) {
		id = fmt.Sprintf("%015d", rand.Int64N(1e15))
		return id, `{"id":"` + id + `","name":"Basil","tag":"herb","owner":"` + user.Record.ID + `"}`
	}
	plants := base + "/plants/records"
	return &server{"PocketBase", plants, plants + "?perPage=100&sort=id&skipTotal=1", user.Token, plant, make(chan string, 1<<20)}
}

// The superuser and the user of PocketBase.
const email, password = "alice@example.com", "Secret-123"

// servePocketBase runs PocketBase with a superuser, and returns the address of
// its collections.
func servePocketBase(b *testing.B) (base string) {
	b.Helper()
	port, err := tools.FreePort()
	if err != nil {
		b.Fatal(err)
	}
	addr, dir := "127.0.0.1:"+port, b.TempDir()
	binary, data := filepath.Join(dir, "base"), "--dir="+filepath.Join(dir, "data")
	install := exec.Command("go", "install", "github.com/pocketbase/pocketbase/examples/base@v0.35.0")
	install.Env = append(os.Environ(), "GOBIN="+dir)
	for _, cmd := range []*exec.Cmd{install, exec.Command(binary, "superuser", "create", email, password, data)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	cmd := exec.Command(binary, "serve", "--dev=false", "--http="+addr, data) // --dev is the default in a temporary directory
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	tools.Await(b, func() error {
		_, err := send("GET", "http://"+addr+"/api/health", "", "")
		return err
	})
	return "http://" + addr + "/api/collections"
}
