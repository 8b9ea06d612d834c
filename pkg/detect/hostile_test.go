package detect

import (
	"strings"
	"testing"
	"time"
)

// TestHostileSize holds that no megabyte of drawing keeps the classifier busy
// for longer than a probe waits.
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
		for _, tail := range []string{"", "\n" + idle("") + "\n" + modeRow} {
			e := Evidence{Screen: []byte(strings.Repeat(unit, maxScreen/len(unit)) + tail), CursorX: -1, CursorY: -1}
			start := time.Now()
			Explain(e)
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("%s: %v", name, d)
			} else if d > 100*time.Millisecond {
				t.Logf("%s: %v", name, d)
			}
		}
	}
}
