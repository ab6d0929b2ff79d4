// Command client-go uses a client generated from the OpenAPI document: it
// creates plants, lists them page by page, and deletes them.
//
//	go run . http://127.0.0.1:8080 "$TOKEN"
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"example.com/client/plants"
)

// notFound is the code of the error "no such plant".
const notFound = 40400

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: client-go ADDRESS TOKEN")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, token string) error {
	client, err := plants.NewClientWithResponses(address, plants.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		return err
	}
	tag := "herb"
	var ids []int64
	for i := range 5 {
		plant := plants.NewPlant{Id: math.MaxInt64 - rand.Int64N(1<<60), Name: fmt.Sprint("Basil ", i), Tag: &tag}
		if err := create(ctx, client, plant); err != nil {
			return err
		}
		ids = append(ids, plant.Id)
	}
	fmt.Printf("created %d plants\n", len(ids))

	listed, pages, err := list(ctx, client, 2)
	if err != nil {
		return err
	}
	var found []int64
	for _, p := range listed {
		found = append(found, *p.Id) // present because of include=id
	}
	for _, id := range ids {
		if !slices.Contains(found, id) {
			return fmt.Errorf("plant %d was created but is not listed", id)
		}
	}
	fmt.Printf("listed %d plants in %d pages\n", len(found), pages)

	for _, id := range ids {
		if err := remove(ctx, client, id); err != nil {
			return err
		}
	}
	fmt.Printf("deleted %d plants\n", len(ids))

	resp, err := client.DeletePlantWithResponse(ctx, ids[0])
	if err != nil {
		return err
	}
	if e := resp.JSON404; e == nil || e.Error != notFound {
		return fmt.Errorf("deleted a plant twice: %s %s", resp.Status(), resp.Body)
	}
	fmt.Printf("deleting one again: error %d, %s\n", resp.JSON404.Error, resp.JSON404.Message)
	return nil
}

func create(ctx context.Context, client *plants.ClientWithResponses, plant plants.NewPlant) error {
	resp, err := client.CreatePlantWithResponse(ctx, &plants.CreatePlantParams{}, plant)
	if err != nil {
		return err
	}
	if p := resp.JSON200; p == nil || p.Name != plant.Name || *p.Tag != *plant.Tag {
		return fmt.Errorf("create: %s %s", resp.Status(), resp.Body)
	}
	return nil
}

// list returns all plants with their ids, and the number of pages.
func list(ctx context.Context, client *plants.ClientWithResponses, limit int32) (all []plants.ListedPlant, pages int, err error) {
	id := plants.ListPlantsParamsIncludeId
	params := &plants.ListPlantsParams{Limit: &limit, Include: &id}
	for {
		resp, err := client.ListPlantsWithResponse(ctx, params)
		if err != nil {
			return nil, 0, err
		}
		if resp.JSON200 == nil {
			return nil, 0, fmt.Errorf("list: %s %s", resp.Status(), resp.Body)
		}
		all = append(all, *resp.JSON200...)
		pages++
		if params.Cursor, err = next(resp.Headers200.Link); params.Cursor == nil {
			return all, pages, err
		}
	}
}

// next returns the cursor in a Link header, or nil without one.
func next(link *string) (cursor *string, err error) {
	if link == nil {
		return nil, nil
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(*link, "<"), ">")
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := u.Query().Get("cursor")
	return &c, nil
}

func remove(ctx context.Context, client *plants.ClientWithResponses, id int64) error {
	resp, err := client.DeletePlantWithResponse(ctx, id)
	if err != nil {
		return err
	}
	if resp.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("delete: %s %s", resp.Status(), resp.Body)
	}
	return nil
}
