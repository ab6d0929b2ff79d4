// What a user does with the Go client of openapi-generator. The arguments are the base
// address, a token and plants.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"reflect"

	"client/openapi"
)

func main() {
	cfg := openapi.NewConfiguration()
	cfg.Servers = openapi.ServerConfigurations{{URL: os.Args[1]}}
	api := openapi.NewAPIClient(cfg).PlantsAPI
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Args[2])
	var plants []openapi.PlantToCreate
	check(json.Unmarshal([]byte(os.Args[3]), &plants))

	for _, plant := range plants {
		created, _, err := api.CreatePlant(ctx).PlantToCreate(plant).Execute()
		check(err)
		same(created.Name, plant.Name)
		same(created.Tag, plant.Tag)
	}
	list, _, err := api.ListPlants(ctx).Include("id").Execute()
	check(err)
	same(len(list), len(plants))
	for i, plant := range plants {
		same(*list[i].Id, plant.Id)
		same(list[i].Name, plant.Name)
		same(list[i].Tag, plant.Tag)
		_, err := api.DeletePlant(ctx, plant.Id).Execute()
		check(err)
	}
	_, err = api.DeletePlant(ctx, plants[0].Id).Execute()
	var failure *openapi.GenericOpenAPIError
	if !errors.As(err, &failure) {
		log.Fatal(err)
	}
	same(failure.Model().(openapi.Error).Error, int32(40400))
}

func same(got, want any) {
	if !reflect.DeepEqual(got, want) {
		log.Fatalf("got %v, want %v", got, want)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
