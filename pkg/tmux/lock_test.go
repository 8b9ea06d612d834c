package tmux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestBufferOfTheDead has senders that were killed between the loading of their
// text and its paste: the next sender, and whoever asks what became of the text,
// takes the buffer away, and no other's.
func TestBufferOfTheDead(t *testing.T) {
	m := newMachine(t, "")
	b := m.box("dead", box{})
	p := b.paste("hello")
	buffers := func() []string {
		return strings.Fields(b.tmux("list-buffers", "-F", "#{buffer_name}"))
	}
	first, second := fmt.Sprintf("%d-123", deadPID(t)), fmt.Sprintf("%d-456", deadPID(t))
	for _, name := range []string{bufferPrefix + first, bufferPrefix + second, bufferPrefix + "1-1", "mine"} {
		b.tmux("set-buffer", "-b", name, "part of a text")
	}
	b.lock(p.Guard.Pane, first)
	if got, err := PasteText(t.Context(), m, p); got != PastedSubmitted || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	if got := buffers(); slices.Contains(got, bufferPrefix+first) || len(got) != 3 {
		t.Errorf("behind the next sender there are %q", got)
	}
	ask := func(sender string) string {
		j := &Journal{Dir: "~/journals", Name: "one"}
		res, err := m.Run(t.Context(), transport.Script{Text: j.path() + `mkdir -p "$journals" && printf 'sender %s\ntyping 1\n' ` + sender + ` >"$journal"` + "\n" + j.Fragment()})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Stdout)
	}
	if out := ask("1-$(" + "started() { :; }; " + holderScript + "started 1)"); !strings.Contains(out, "alive") {
		t.Errorf("of a sender that lives: %q", out)
	}
	if out := ask(second); strings.Contains(out, "alive") {
		t.Errorf("of a dead sender: %q", out)
	}
	if got := buffers(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{bufferPrefix + "1-1", "mine"}) {
		t.Errorf("at the end there are %q", got)
	}
}
