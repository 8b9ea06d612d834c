package fleet_test

import (
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// hooks refuse a prompt with BLOCKME in it, and end a turn that runs a tool with
// HALT in its call.
var hooks = map[string]any{
	"UserPromptSubmit": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "if grep -q BLOCKME; then echo not in this house >&2; exit 2; fi"}}}},
	"PreToolUse":       []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": `if grep -q HALT; then echo '{"continue": false, "stopReason": "halted here"}'; fi`}}}},
}

// TestSendHook has hooks of the session refuse prompts, and end a turn.
func TestSendHook(t *testing.T) {
	t.Parallel()
	f, p := alpha(t, rig.HostSpec{Settings: map[string]any{"hooks": hooks}})
	for _, prompt := range []string{"SAY BLOCKME now", "SAY BLOCKME\nin three\nlines", "BLOCKME " + strings.Repeat("a long line of words\n", 120)} {
		out := sends(t, f, prompt, fleet.SendOptions{}, fleet.Typed)
		if !strings.Contains(out.Detail, "not in this house") || !strings.Contains(out.Detail, "taken out of the input box again") {
			t.Errorf("%+v", out)
		}
		is(t, f, detect.Ready, "")
	}
	// Somebody's draft that was put aside for it comes back, and the client puts the
	// prompt beneath: that is left to a person, and said.
	p.types("❯\u00a0", "half a thought")
	is(t, f, detect.Ready, "half a thought")
	out := sends(t, f, "SAY BLOCKME past a draft", fleet.SendOptions{ReplaceDraft: true}, fleet.Typed)
	if !strings.Contains(out.Detail, "the draft that was put aside stands in the input box again") {
		t.Errorf("%+v", out)
	}
	is(t, f, detect.Ready, "half a thought\nSAY BLOCKME past a draft")
	p.keys("C-c")
	is(t, f, detect.Ready, "")
	sends(t, f, "SAY welcome", fleet.SendOptions{}, fleet.Accepted)
	is(t, f, detect.Ready, "")
	out = sends(t, f, "TOOL echo HALT", fleet.SendOptions{}, fleet.Accepted)
	turn, err := f.WaitTurn(t.Context(), out)
	if fleet.ClassOf(err) != fleet.ClassFailed || !strings.Contains(err.Error(), "halted here") {
		t.Errorf("%+v, %v", turn, err)
	}
}
