package bolt

import (
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
