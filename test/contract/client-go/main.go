// Command client-go uses a client generated from the OpenAPI document: it
// creates plants, lists them page by page, and deletes them.
//
//	go run . http://127.0.0.1:8080 "$TOKEN"
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"

	"example.com/client/plants"
)

func main() {
	log.SetFlags(0)
	ctx, address, token := context.Background(), os.Args[1], os.Args[2]
	client, err := plants.NewClientWithResponses(address, plants.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	for i := range 5 {
		plant := plants.NewPlant{Id: math.MaxInt64 - rand.Int64N(1<<60), Name: fmt.Sprint("Basil ", i), Tag: new("herb")}
		resp, err := client.CreatePlantWithResponse(ctx, &plants.CreatePlantParams{}, plant)
		if err != nil || resp.JSON200 == nil || resp.JSON200.Name != plant.Name || *resp.JSON200.Tag != *plant.Tag {
			log.Fatalf("create: %v %v", resp, err)
		}
	}
	fmt.Println("created 5 plants")

	var ids []int64
	params := &plants.ListPlantsParams{Limit: new(int32(2)), Include: new(plants.ListPlantsParamsIncludeId)}
	for pages := 1; ; pages++ {
		resp, err := client.ListPlantsWithResponse(ctx, params)
		if err != nil || resp.JSON200 == nil {
			log.Fatalf("list: %v %v", resp, err)
		}
		for _, p := range *resp.JSON200 {
			ids = append(ids, *p.Id) // present because of include=id
		}
		if resp.Headers200.Link == nil {
			fmt.Printf("listed %d plants in %d pages\n", len(ids), pages)
			break
		}
		next, _, _ := strings.Cut(strings.TrimPrefix(*resp.Headers200.Link, "<"), ">")
		u, err := url.Parse(next)
		if err != nil {
			log.Fatal(err)
		}
		params.Cursor = new(u.Query().Get("cursor"))
	}

	for _, id := range ids {
		resp, err := client.DeletePlantWithResponse(ctx, id)
		if err != nil || resp.StatusCode() != http.StatusNoContent {
			log.Fatalf("delete: %v %v", resp, err)
		}
	}
	fmt.Printf("deleted %d plants\n", len(ids))
	resp, err := client.DeletePlantWithResponse(ctx, ids[0])
	if err != nil || resp.JSON404 == nil {
		log.Fatalf("deleted a plant twice: %v %v", resp, err)
	}
	fmt.Printf("deleting one again: error %d, %s\n", resp.JSON404.Error, resp.JSON404.Message)
}
