package tmux

import (
	"strings"
	"testing"
	"time"
)

// TestPasteOnce is a program that takes no Enter soon after a paste: what is to be
// submitted by one Enter alone is stuck then, and no second one is pressed.
func TestPasteOnce(t *testing.T) {
	m := newMachine(t, "")
	for name, tt := range map[string]struct {
		once bool
		want Pasted
	}{"again": {false, PastedSubmitted}, "once": {true, PastedStuck}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := m.in(t).box("once-"+name, box{Deaf: time.Second})
			p := b.paste("hello")
			p.Once, p.Wait = tt.once, 6*time.Second // a second Enter would come after 2 s, a third after 5
			got, err := PasteText(t.Context(), m, p)
			if got != tt.want || err != nil {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
			if enters := strings.Count(b.bytes(), "\r"); (enters == 1) != tt.once {
				t.Errorf("Enter was pressed %d times", enters)
			}
		})
	}
}
