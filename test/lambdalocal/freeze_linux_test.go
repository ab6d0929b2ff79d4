package lambdalocal

import (
	"strings"
	"testing"
	"time"
)

// Between invocations nothing goes on in a frozen process.
func TestFreeze(t *testing.T) {
	t.Parallel()
	for _, freezes := range []bool{false, true} {
		o := options(t)
		o.Freeze = freezes
		e := newEnvironment(t, o)
		invoke(t, e, "background")
		time.Sleep(300 * time.Millisecond)
		if ticks := strings.Count(e.Stdout(), "tick"); freezes == (ticks > 5) {
			t.Errorf("Freeze is %t, but in 300 ms it ticked %d times", freezes, ticks)
		}
		if a := invoke(t, e, "next"); a.Event != "next" {
			t.Errorf("%+v", a)
		}
	}
}
