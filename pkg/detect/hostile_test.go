package detect

import (
	"strings"
	"testing"
	"time"
)

// watchdog is far beyond what a megabyte takes on a slow and busy machine (a few
// seconds under the race detector), and far below what work that grows with the
// square of it would (many minutes).
const watchdog = time.Minute

// TestHostileSize holds that no megabyte of drawing keeps the classifier from
// ending.
func TestHostileSize(t *testing.T) {
	ruled := strings.Repeat("─", 100) + "\n"
	for name, unit := range map[string]string{
		"rules":           ruled,
		"boxes":           ruled + "❯\u00a0x\n",
		"broken boxes":    ruled + "❯ x\ny\n",
		"boxes unclosed":  ruled + "❯ x\n  y\n",
		"options":         "  ❯ 1. Yes\n",
		"numbers":         "  2. Yes\n",
		"wrapped":         "  ❯ 1. " + strings.Repeat("long ", 20) + "\n     more\n",
		"frames":          "╭──\n",
		"bullets":         "● x\n",
		"notes":           "  ⎿ x\n",
		"commands":        "❯ /x\n  ⎿ y\n",
		"spinners":        "✻ Working… (3s)\n",
		"done":            "✻ Cooked for 3s\n",
		"retries":         "  Retrying in 3\n",
		"hints":           "Enter to x · Esc to y\n",
		"one endless row": "Enter to x · Esc to y · 1. ❯ ",
		"colours":         "\x1b[38;2;1;2;3mx\x1b[48;5;9my",
		"wide":            "테👩‍💻",
		"marks":           "e\u0301\u0301",
		"nothing":         "\n",
		"controls":        "\x1b]8;;\x07\x00",
	} {
		e := Evidence{Screen: []byte(strings.Repeat(unit, maxScreen/len(unit)) + "\n" + idle("") + "\n" + modeLine), CursorX: -1, CursorY: -1}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Explain(e)
		}()
		select {
		case <-ended:
		case <-time.After(watchdog):
			t.Fatalf("%s: no end after %s", name, watchdog)
		}
	}
}
