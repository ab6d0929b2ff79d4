package browser

import (
	"testing"

	"example.com/plantstore/test/tools"
)

func TestMain(m *testing.M) { tools.Main(m) }
