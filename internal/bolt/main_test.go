package bolt

import (
	"testing"

	"example.com/plantstore/internal/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
