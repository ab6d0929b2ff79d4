package dynamolocal

import (
	_ "embed"
	"os"
	"path/filepath"
	"time"

	"example.com/plantstore/test/tools"
)

//go:embed pom.xml
var pom []byte

// libraryFolder names the version that pom.xml has: a newer one goes to a
// folder of its own.
const libraryFolder = "dynamodb-local-3.0.0"

const mavenTimeout = 5 * time.Minute // for 46 MB over a slow line

// libraries returns the folder with the libraries of DynamoDB Local, which
// Maven fills at first.
func libraries() (string, error) {
	return tools.Dir(libraryFolder, mavenTimeout, func(dir string) error {
		file := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(file, pom, 0o600); err != nil {
			return err
		}
		_, err := tools.Run(mavenTimeout, "mvn", "--quiet", "--batch-mode", "--file", file,
			"dependency:copy-dependencies", "-DoutputDirectory="+dir)
		return err
	})
}
