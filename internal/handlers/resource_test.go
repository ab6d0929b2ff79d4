package handlers

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/bolt"
	"example.com/plantstore/internal/dynamo"
	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
	"example.com/plantstore/internal/records/recordstest"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A supplier is what a program with a second resource would have beside plants.
type supplier struct {
	Name  string   `json:"name"`
	Since int64    `json:"since"`
	Lists []string `json:"lists,omitzero"`
}

func (s supplier) Validate() error {
	if s.Name == "" {
		return errors.New("name must not be empty")
	}
	return nil
}

// A second resource needs only its type, its stores and its rows in the route table.
func TestSecondResource(t *testing.T) {
	t.Run("bolt", func(t *testing.T) {
		file, err := bolt.Open(filepath.Join(t.TempDir(), "plants.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		testSecondResource(t, bolt.NewStore[plants.Plant](file, "ids", "plants"), bolt.NewStore[supplier](file, "supplier_ids", "suppliers"))
	})
	t.Run("dynamo", func(t *testing.T) {
		client, plantTable := dynamolocal.Table(t)
		_, supplierTable := dynamolocal.Table(t)
		testSecondResource(t, dynamo.New[plants.Plant](client, plantTable), dynamo.New[supplier](client, supplierTable))
	})
}

func testSecondResource(t *testing.T, plantStore records.Store[plants.Plant], store records.Store[supplier]) {
	examples := []supplier{{"Fern & Co", 1999, []string{"ferns"}}, {"Fern & Co", 1999, nil}, {"Fern & Co", 0, []string{"ferns"}}, {"x", 1999, []string{"ferns"}}}
	recordstest.TestStore(t, examples, func(*testing.T) records.Store[supplier] { return store })

	s := newServer(t, plantStore)
	s.routes = append(s.routes,
		Route{http.MethodPost, "/suppliers", "suppliers/write", create(store)},
		Route{http.MethodGet, "/suppliers", "suppliers/read", list(store)},
		Route{http.MethodDelete, "/suppliers/{id}", "suppliers/write", remove(store, "supplier")},
	)
	scopes := []string{"plants/read", "plants/write", "suppliers/read", "suppliers/write"}
	s.tokens = s.issuer.Verifier(t, auth.Config{}, scopes...)
	all, plantsOnly := s.issuer.Token("alice", scopes...), s.issuer.Token("alice", scopes[:2]...)
	const plant, fern = `{"id":7,"name":"Basil"}`, `{"id":7,"name":"Fern","since":1999}`
	for _, test := range []struct {
		token, method, target, body string
		status                      int
		want                        string
	}{
		{all, "POST", "/plants", plant, 200, `{"name":"Basil"}`},
		{all, "POST", "/suppliers", fern, 200, `{"name":"Fern","since":1999}`},
		{all, "POST", "/suppliers", `{"id":8,"name":"","since":1}`, 400, `{"error":40002,"message":"name must not be empty"}`},
		{all, "GET", "/suppliers?include=id", "", 200, "[" + fern + "]"},
		{plantsOnly, "GET", "/suppliers", "", 403, `{"error":40300,"message":"the access token lacks the scope suppliers/read"}`},
		{all, "DELETE", "/suppliers/7", "", 204, ""},
		{all, "DELETE", "/suppliers/7", "", 404, `{"error":40400,"message":"you have no supplier with this id"}`},
		{all, "GET", "/suppliers", "", 200, "[]"},
		{all, "GET", "/plants?include=id", "", 200, "[" + plant + "]"},
	} {
		if test.want != "" {
			test.want += "\n"
		}
		s.token = test.token
		w := s.do(t.Context(), test.method, test.target, test.body)
		if w.Code != test.status || w.Body.String() != test.want {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.target, w.Code, w.Body, test.status, test.want)
		}
	}
}
