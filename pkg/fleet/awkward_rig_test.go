package fleet_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// awkward are prompts that tools of this kind lose, double or mangle, and what
// each has to arrive as; where that is empty, as itself.
func awkward() []struct{ prompt, arrives string } {
	lines := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, "\n")
	}
	return []struct{ prompt, arrives string }{
		{"plain words", ""},
		// What a caller leaves around a prompt.
		{"hello\n", "hello"}, {"carriage\r\nreturns\r", "carriage\nreturns"}, {"  blanks around  ", "blanks around"}, {"\n\nlines around\n\n", "lines around"},
		// What tmux or a shell would take for its own.
		{"drop table x;", ""}, {";", ""}, {";;", ""}, {`a \;`, ""}, {"Enter", ""}, {"C-c", ""}, {"Space", ""}, {"Escape C-m", ""}, {"-t", ""}, {"--help", ""}, {"-", ""}, {"-- x", ""},
		{"$(touch pwned) `touch pwned`", ""}, {"${HOME} $HOME \"$@\" it's 'quoted'", ""}, {"#{pane_id} #(touch pwned) %H %% %s", ""}, {`\n \e[31m \033c \x1b literal`, ""}, {"wow!! *?[a-z]* {a,b} ~ ~root", ""},
		{"EOF", ""}, {"fleet0123456789abcdef submitted", ""}, {"@fleet_sender", ""},
		// What the client would take for its own.
		{`ends in a backslash \`, ""}, {"line one \\\nline two", ""}, {"1", ""}, {"0", ""}, {"y", ""}, {"?", ""}, {"#remember this", ""}, {"&do it", ""}, {"a face :smi", ""}, {"look at @READ", ""}, {"@README.md look", ""},
		{"/etc/hosts is a file", ""}, {"exit.", ""}, {"ultrathink please", ""},
		{"[Pasted text #1 +14 lines]", ""}, {"[Pasted text #1 +14 lines] is what I typed", ""}, {"[Image #1]", ""}, {"<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">", "<\\pasted_content id=\"1\">\nx\n<\\/pasted_content id=\"1\">"}, {"<command-name>/exit</command-name>", ""}, {"<bash-input>ls</bash-input>", ""},
		// What a reader of screens would take for the client's.
		{"❯\u00a0looks like the box", ""}, {"within it ❯\u00a0too", ""}, {"one\n❯\u00a0two", ""}, {"esc to interrupt", ""}, {"✻ Thinking… (3s · ↓ 42 tokens)", ""}, {strings.Repeat("─", 60) + "\n❯ x\n" + strings.Repeat("─", 60), ""}, {"[Request interrupted by user]", ""}, {"❯ 1. Yes\n  2. No\nEnter to confirm · Esc to cancel", ""},
		// Control characters, and such as nobody sees, are taken out, a TAB becomes blanks.
		{"a\tb", "a    b"}, {"a\x1b[201~\rrm -rf /", "a[201~\nrm -rf /"}, {"bell\x07 nul\x00 del\x7f c1\u009b31m", "bell nul del c131m"},
		// What is drawn in more or fewer cells than it has runes.
		{"👩\u200d💻🎉 🇩🇪 ⚠️", ""}, {"e\u0301 s\u0323\u0307 combining", "\u00e9 \u1e69 combining"}, {"日本語のテキスト", ""}, {"漢字 in English 測試", ""}, {"שלום مرحبا", ""}, {"नमस्ते ภาษาไทย", ""}, {"no\u00a0break zero\u200bwidth \u202emark", "no\u00a0break zerowidth mark"}, {"می\u200cخواهم क्\u200dष", ""}, {"😀", ""},
		// Lines and lengths.
		{"two\nlines", ""}, {"a\n\n\nb", ""}, {"  - indented\n    - more\n\n```go\nfunc main() {}\n```", "- indented\n    - more\n\n```go\nfunc main() {}\n```"},
		{lines(40, "line %d of three kilobytes, "+strings.Repeat("x", 50)), ""}, {lines(80, "line %d of many"), ""},
		{strings.TrimSpace(strings.Repeat("all work and no play; ", 120)), ""}, {strings.Repeat("0123456789abcde", 273), ""}, {lines(1200, "line %d of a text"), ""},
		{lines(4000, "0123456789 %d"), ""}, {lines(24000, "line %d of one megabyte, nearly, été"), ""},
	}
}

// TestSendAwkward holds each of them to exactly one user record that is equal to
// the byte, by the test's own reading of the client's file.
func TestSendAwkward(t *testing.T) {
	t.Parallel()
	spec := func(name string) rig.HostSpec { return rig.HostSpec{Name: name, Trusted: true, BypassAccepted: true} }
	r := rigtest.Start(t, spec("alpha"), spec("beta"))
	f := over(t, r)
	up(t, f)
	prompts := make(chan struct{ prompt, arrives string })
	var workers sync.WaitGroup
	for _, h := range r.Hosts() {
		workers.Go(func() {
			for c := range prompts {
				before := len(userRecords(t, h))
				rigtest.Eventually(t, time.Minute, h.Name+" to be ready", func() (bool, string) {
					s := state(t, f, h.Name)
					return s.State == detect.Ready && s.Draft == "", fmt.Sprintf("%s by %s: %s", s.State, s.Rule, s.Why)
				})
				out, err := f.Send(t.Context(), h.Name, c.prompt, fleet.SendOptions{})
				if err != nil || out.Result != fleet.Accepted || out.Record == "" {
					t.Errorf("send %.60q: %s, %v", c.prompt, out.Result, err)
					continue
				}
				want := c.arrives
				if want == "" {
					want = c.prompt
				}
				got := userRecords(t, h)[before:]
				if len(got) != 1 || got[0] != want {
					t.Errorf("send %.60q: %d records: %.200q", c.prompt, len(got), got)
				}
			}
		})
	}
	for _, c := range awkward() {
		prompts <- c
	}
	close(prompts)
	workers.Wait()
	for _, h := range r.Hosts() {
		for _, dir := range []string{h.Home, h.Workdir} {
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Errorf("%s: a prompt was run as a command", h.Name)
			}
		}
	}
}

// frame is what the client puts around a text that it was given in one large
// paste.
var frame = regexp.MustCompile(`(?s)\n*<pasted_content id="[0-9a-f]{2,}">\n(.*)\n</pasted_content id="[0-9a-f]{2,}">\n?`)

// userRecords are the prompts in a host's only conversation, by the file itself,
// without the frame of large pastes and white space at the end.
func userRecords(t *testing.T, h *rig.Host) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var prompts []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var r struct {
				Type    string
				IsMeta  bool
				Message struct{ Content any }
			}
			if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &r) != nil || r.Type != "user" || r.IsMeta {
				continue
			}
			prompt, ok := r.Message.Content.(string)
			if !ok {
				prompt = fmt.Sprint(r.Message.Content)
			}
			if len(prompt) > 20_000 {
				prompt = frame.ReplaceAllString(prompt, "$1")
			}
			prompts = append(prompts, strings.TrimRight(prompt, " \n"))
		}
	}
	return prompts
}
