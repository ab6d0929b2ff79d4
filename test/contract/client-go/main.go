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
	var ids []int64
	for i := range 5 {
		plant := plants.NewPlant{Id: math.MaxInt64 - rand.Int64N(1<<60), Name: fmt.Sprint("Basil ", i), Tag: new("herb")}
		resp, err := client.CreatePlantWithResponse(ctx, &plants.CreatePlantParams{}, plant)
		if err != nil {
			return err
		}
		if p := resp.JSON200; p == nil || p.Name != plant.Name || *p.Tag != *plant.Tag {
			return fmt.Errorf("create: %s %s", resp.Status(), resp.Body)
		}
		ids = append(ids, plant.Id)
	}
	fmt.Printf("created %d plants\n", len(ids))

	listed, pages, err := list(ctx, client, 2)
	if err != nil {
		return err
	}
	fmt.Printf("listed %d plants in %d pages\n", len(listed), pages)
	slices.Sort(ids)
	if !slices.Equal(listed, ids) { // lists are in ascending order of ids
		return fmt.Errorf("created the plants %d, but the list has %d", ids, listed)
	}
	return removeAll(ctx, client, ids)
}

// list returns the ids of all plants, and the number of pages.
func list(ctx context.Context, client *plants.ClientWithResponses, limit int32) (ids []int64, pages int, err error) {
	params := &plants.ListPlantsParams{Limit: &limit, Include: new(plants.ListPlantsParamsIncludeId)}
	for {
		resp, err := client.ListPlantsWithResponse(ctx, params)
		if err != nil {
			return nil, 0, err
		}
		if resp.JSON200 == nil {
			return nil, 0, fmt.Errorf("list: %s %s", resp.Status(), resp.Body)
		}
		for _, p := range *resp.JSON200 {
			ids = append(ids, *p.Id) // present because of include=id
		}
		pages++
		if resp.Headers200.Link == nil {
			return ids, pages, nil
		}
		next, _, _ := strings.Cut(strings.TrimPrefix(*resp.Headers200.Link, "<"), ">")
		u, err := url.Parse(next)
		if err != nil {
			return nil, 0, err
		}
		params.Cursor = new(u.Query().Get("cursor"))
	}
}

// removeAll deletes the plants, and tries to delete the first one again.
func removeAll(ctx context.Context, client *plants.ClientWithResponses, ids []int64) error {
	for _, id := range ids {
		resp, err := client.DeletePlantWithResponse(ctx, id)
		if err != nil {
			return err
		}
		if resp.StatusCode() != http.StatusNoContent {
			return fmt.Errorf("delete: %s %s", resp.Status(), resp.Body)
		}
	}
	fmt.Printf("deleted %d plants\n", len(ids))

	resp, err := client.DeletePlantWithResponse(ctx, ids[0])
	if err != nil {
		return err
	}
	if resp.JSON404 == nil {
		return fmt.Errorf("deleted a plant twice: %s %s", resp.Status(), resp.Body)
	}
	fmt.Printf("deleting one again: error %d, %s\n", resp.JSON404.Error, resp.JSON404.Message)
	return nil
}
