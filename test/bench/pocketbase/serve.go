package main

import (
	"fmt"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// servePocketBase runs PocketBase with its default settings, a collection of
// plants whose rules are those of the service, and a user. It prints the user's
// id and token.
func servePocketBase() error {
	app := pocketbase.New()
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.InstallerFunc = nil // would open a browser
		users, err := e.App.FindCollectionByNameOrId("users")
		if err != nil {
			return err
		}
		plants := core.NewBaseCollection("plants")
		plants.Fields.Add(
			&core.TextField{Name: "name", Required: true, Max: 256},
			&core.TextField{Name: "tag", Max: 256},
			&core.RelationField{Name: "owner", Required: true, CollectionId: users.Id, MaxSelect: 1},
		)
		plants.AddIndex("plants_by_owner", false, "owner, id", "")
		plants.ListRule = types.Pointer("owner = @request.auth.id")
		plants.CreateRule = types.Pointer("@request.auth.id != '' && owner = @request.auth.id")
		plants.DeleteRule = types.Pointer("owner = @request.auth.id")
		if err := e.App.Save(plants); err != nil {
			return err
		}
		user := core.NewRecord(users)
		user.SetEmail("alice@example.com")
		user.SetRandomPassword()
		if err := e.App.Save(user); err != nil {
			return err
		}
		token, err := user.NewAuthToken()
		if err != nil {
			return err
		}
		fmt.Printf("user %s token %s\n", user.Id, token)
		return e.Next()
	})
	return app.Start()
}
