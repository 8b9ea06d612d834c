package fleet

import (
	"slices"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func TestParseAttempt(t *testing.T) {
	const head = "claude-fleet x\nprompt abc\npane %3\nconversation 11-22 345\n"
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		name, in string
		want     attempt
		ok       bool
		over     bool
	}{
		{"nothing", "", attempt{}, false, false},
		{"cut off before it typed", head + "sender 1-2\n", attempt{}, false, false},
		{"it types", head + "sender 1-2\ntyping 1500\nalive\n", attempt{at: at(1500), noted: at(1500), stages: []tmux.Stage{tmux.StageTyping}, alive: true}, true, false},
		{"it died while it typed", head + "sender 1-2\ntyping 1500\n", attempt{at: at(1500), noted: at(1500), stages: []tmux.Stage{tmux.StageTyping}}, true, true},
		{"submitted", head + "sender 1-2\ntyping 1500\nenter 1700\nsubmitted 1900\nalive\n", attempt{at: at(1500), noted: at(1900), stages: []tmux.Stage{tmux.StageTyping, tmux.StageEnter, tmux.StageSubmitted}, alive: true}, true, true},
		{"a line that was cut", head + "typing 1500\nent", attempt{at: at(1500), noted: at(1500), stages: []tmux.Stage{tmux.StageTyping}}, true, true},
		{"queued", head + "queued yes\ntyping 1500\n", attempt{at: at(1500), noted: at(1500), queued: true, stages: []tmux.Stage{tmux.StageTyping}}, true, true},
	} {
		got, ok := parseAttempt(c.in)
		if ok != c.ok || ok && (!slices.Equal(got.stages, c.want.stages) || !got.at.Equal(c.want.at) || !got.noted.Equal(c.want.noted) ||
			got.alive != c.want.alive || got.queued != c.want.queued || got.digest != "abc" || got.conversation != "11-22" || got.offset != 345 || got.over() != c.over) {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

func FuzzParseAttempt(f *testing.F) {
	f.Add("claude-fleet x\nprompt abc\nconversation 1 2\ntyping 1500\nerased 2\nalive\n")
	f.Fuzz(func(t *testing.T, in string) {
		if a, ok := parseAttempt(in); ok {
			_, _ = a.last(), a.over()
		}
	})
}

// TestAttemptOwn holds that an attempt is proven by its own record alone, not by
// that of an equal prompt.
func TestAttemptOwn(t *testing.T) {
	start := time.UnixMilli(1_700_000_000_500)
	record := func(sent, at time.Duration, text string) transcript.Record {
		return transcript.Record{Type: "user", ID: "r", At: start.Add(at), Sent: start.Add(sent), Blocks: []transcript.Block{{Kind: "text", Text: text}}}
	}
	a := attempt{digest: transcript.Digest("go on"), at: start, noted: start.Add(2 * time.Second)}
	queued := a
	queued.queued = true
	for _, c := range []struct {
		name string
		a    attempt
		r    transcript.Record
		want Result
	}{
		{"its own", a, record(time.Second, time.Second, "go on"), Accepted},
		{"another text", a, record(time.Second, time.Second, "go on!"), ""},
		{"sent before", a, record(-time.Millisecond, time.Second, "go on"), ""},
		{"sent long after", a, record(2*time.Minute, 2*time.Minute, "go on"), ""},
		{"its own, from the queue", queued, record(time.Second, time.Hour, "go on"), Accepted},
		{"another's, from the queue", queued, record(-time.Second, time.Hour, "go on"), ""},
		{"from the queue of a version that does not tell", queued, record(time.Hour, time.Hour, "go on"), Accepted},
	} {
		if _, got := c.a.shows([]transcript.Record{c.r}); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	unknown := transcript.Record{Type: "system", At: start, Sent: start, Blocks: []transcript.Block{{Kind: "text", Text: "Unknown command: /nosuch"}}}
	args := transcript.Record{Type: "system", At: start, Sent: start, Blocks: []transcript.Block{{Kind: "text", Text: "Args from unknown skill: a b"}}}
	for prompt, want := range map[string]Result{"/nosuch": Refused, "/nosuch a b": Refused, "/other": "", "run the tests": ""} {
		a := attempt{digest: transcript.Digest(prompt), at: start}
		if _, got := a.shows([]transcript.Record{unknown, args}); got != want {
			t.Errorf("%q beside an unknown command: %q", prompt, got)
		}
	}
	for _, c := range []struct {
		name  string
		last  tmux.Stage
		after time.Duration
		want  Result
	}{
		{"a command that took minutes", tmux.StageSubmitted, 5 * time.Minute, Accepted},
		{"an equal one, an hour later", tmux.StageSubmitted, time.Hour, ""},
		{"one that was not submitted, and a later one", tmux.StageTyped, 5 * time.Minute, ""},
		{"one that was not submitted, and then was by hand", tmux.StageTyped, 5 * time.Second, Accepted},
	} {
		command := attempt{digest: transcript.Digest("/compact"), at: start, noted: start, stages: []tmux.Stage{tmux.StageTyping, c.last}}
		if c.last == tmux.StageSubmitted {
			command.stages = []tmux.Stage{tmux.StageTyping, tmux.StageEnter, tmux.StageSubmitted}
		}
		r := record(c.after, c.after, "<command-name>/compact</command-name>\n<command-args></command-args>")
		if _, got := command.shows([]transcript.Record{r}); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	blocked := transcript.Record{Type: "system", At: start, Sent: start, Blocks: []transcript.Block{{Kind: "text", Text: "UserPromptSubmit operation blocked by hook:\n[x]: no\n\n\nOriginal prompt: go on"}}}
	for prompt, want := range map[string]Result{"go on": Typed, "on": "", "": ""} {
		a := attempt{digest: transcript.Digest(prompt), at: start}
		if _, got := a.shows([]transcript.Record{blocked}); got != want {
			t.Errorf("%q beside a prompt that a hook refused: %q", prompt, got)
		}
	}
}
