package bolt

import (
	"testing"

	"example.com/plantstore/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
