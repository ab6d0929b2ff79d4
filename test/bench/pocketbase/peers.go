package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// A peer is a client of one of the programs. Its methods send one request each,
// and may be called concurrently.
type peer interface {
	create() error
	list() error
	delete() error // a plant that create has created
}

// errNoPlants means that all plants are deleted.
var errNoPlants = errors.New("no plants to delete")

// created holds the ids of plants to delete.
type created struct {
	mu  sync.Mutex
	ids []string
}

func (c *created) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, id)
}

func (c *created) take() (id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == 0 {
		return "", errNoPlants
	}
	id, c.ids = c.ids[len(c.ids)-1], c.ids[:len(c.ids)-1]
	return id, nil
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// send sends a request and reads its response, which must have the given status.
func send(method, url, token, body string, status int) error {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != status {
		err = fmt.Errorf("%s %s: %d %s", method, url, resp.StatusCode, b)
	}
	return err
}

type plantStore struct {
	base, token string
	created
}

func newPlantStore(base string) (*plantStore, error) {
	resp, err := client.PostForm(base+"/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"alice"}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return &plantStore{base: base + "/plants", token: answer.AccessToken}, err
}

func (p *plantStore) create() error {
	id := fmt.Sprint(rand.Int64())
	err := send("POST", p.base, p.token, `{"id":`+id+`,"name":"Basil","tag":"herb"}`, http.StatusOK)
	p.add(id)
	return err
}

func (p *plantStore) list() error {
	return send("GET", p.base+"?limit=100", p.token, "", http.StatusOK)
}

func (p *plantStore) delete() error {
	id, err := p.take()
	if err != nil {
		return err
	}
	return send("DELETE", p.base+"/"+id, p.token, "", http.StatusNoContent)
}

type pocketBase struct {
	base, user, token string
	created
}

func (p *pocketBase) create() error {
	id := fmt.Sprintf("%015d", rand.Int64N(1e15))
	err := send("POST", p.base, p.token, `{"id":"`+id+`","name":"Basil","tag":"herb","owner":"`+p.user+`"}`, http.StatusOK)
	p.add(id)
	return err
}

func (p *pocketBase) list() error {
	return send("GET", p.base+"?perPage=100&sort=id&skipTotal=1", p.token, "", http.StatusOK)
}

func (p *pocketBase) delete() error {
	id, err := p.take()
	if err != nil {
		return err
	}
	return send("DELETE", p.base+"/"+id, p.token, "", http.StatusNoContent)
}
