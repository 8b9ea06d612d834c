package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// truth is what there is of a prompt, by the client's own files, the API and the
// screen.
type truth struct {
	records int      // that hold it whole
	given   int      // how often the API was given it, whole
	parts   []string // of records, and of what the API was given: part of it, or it with more
	draft   string   // what stands in the input box
}

// truthOf looks for a prompt everywhere, by its tag.
func truthOf(r *rig.Rig, h *rig.Host, text chaosText, prompt, tag string) (truth, error) {
	var is truth
	files, err := filepath.Glob(filepath.Join(h.Home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		return is, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return is, err
		}
		for line := range strings.Lines(string(raw)) {
			if !strings.Contains(line, tag) {
				continue
			}
			rec, ok := transcript.ParseRecord([]byte(strings.TrimSuffix(line, "\n")))
			if _, output := rec.Output(); !ok || output || rec.Type != "user" || rec.Meta {
				continue
			}
			if transcript.Matches(rec, prompt) {
				is.records++
			} else {
				is.parts = append(is.parts, fmt.Sprintf("record: %.300q", rec.Text()))
			}
		}
	}
	want := prompt
	if text.api != nil {
		want = text.api(prompt)
	}
	want = transcript.Normalise(want)
	for _, p := range r.API().Prompts() {
		switch {
		case !strings.Contains(p, tag) || text.mute:
		case transcript.Normalise(transcript.Unframed(p)) == want: // a blank is typed behind each prompt
			is.given++
		default:
			is.parts = append(is.parts, fmt.Sprintf("API: %.300q", p))
		}
	}
	return is, nil
}

// ending is how a run came out.
type ending string

// The endings: those that are as they should be, and those that must not be.
const (
	accepted ending = "accepted"
	left     ending = "left in the box and said"
	absent   ending = "not in the box any more and said"
	refused  ending = "refused, nothing typed"
	doubt    ending = "in doubt and said"
	lost     ending = "lost without being said"
	doubled  ending = "doubled"
	partial  ending = "partial"
	untrue   ending = "said otherwise than it is"
)

func (e ending) bad() bool { return e == lost || e == doubled || e == partial || e == untrue }

// judge holds what a command said of a prompt against the truth.
func judge(s said, is truth, mute bool) ending {
	given := is.given
	if mute {
		given = is.records
	}
	switch {
	case is.records > 1 || given > 1:
		return doubled
	case len(is.parts) > 0:
		return partial
	}
	none := is.records == 0 && given == 0 && is.draft == ""
	switch {
	case s.code == 0 && is.records == 0:
		return lost
	case s.code == 0 && s.Result == fleet.Accepted && s.Record != "" && given == 1 && is.draft == "":
		return accepted
	case s.code == 3 && s.Result == fleet.Refused && none:
		return refused
	case s.code == 4 && s.Result == fleet.Typed && none && strings.Contains(s.Detail, "no longer in the input box"):
		return absent
	case s.code == 4 && s.Result == fleet.Typed && none && strings.Contains(s.Detail, "taken out again"):
		return absent
	case s.code == 4 && s.Result == fleet.Typed && is.records == 0 && is.draft != "" && strings.Contains(s.Detail, "still"):
		return left
	case s.code == 5 && s.Result == fleet.Submitted, s.code == 6 && s.Result == fleet.Unreachable && (s.Started || none):
		return doubt
	}
	return untrue
}

// TestChaosJudge has the judge judge: each of these is one thing away from
// another that it must tell from it.
func TestChaosJudge(t *testing.T) {
	ok := said{code: 0, Outcome: fleet.Outcome{Result: fleet.Accepted, Record: "r"}}
	typed := func(detail string) said {
		return said{code: 4, Outcome: fleet.Outcome{Result: fleet.Typed, Detail: detail}}
	}
	no := said{code: 3, Outcome: fleet.Outcome{Result: fleet.Refused}}
	for i, c := range []struct {
		said said
		is   truth
		mute bool
		want ending
	}{
		{ok, truth{records: 1, given: 1}, false, accepted},
		{ok, truth{records: 1}, true, accepted},
		{ok, truth{records: 1}, false, untrue},
		{ok, truth{}, false, lost},
		{ok, truth{records: 1, given: 1, draft: "x"}, false, untrue},
		{ok, truth{records: 2, given: 1}, false, doubled},
		{ok, truth{records: 1, given: 2}, false, doubled},
		{no, truth{records: 1, given: 2}, false, doubled},
		{ok, truth{records: 1, given: 1, parts: []string{"x"}}, false, partial},
		{no, truth{}, false, refused},
		{no, truth{draft: "x"}, false, untrue},
		{no, truth{records: 1, given: 1}, false, untrue},
		{typed("still in the box"), truth{draft: "x"}, false, left},
		{typed("still in the box"), truth{}, false, untrue},
		{typed("taken out again"), truth{}, false, absent},
		{typed("taken out again"), truth{draft: "x"}, false, untrue},
		{typed("still in the box"), truth{records: 1, given: 1}, false, untrue},
		{said{code: 5, Outcome: fleet.Outcome{Result: fleet.Submitted}}, truth{records: 1, given: 1}, false, doubt},
		{said{code: 6, Outcome: fleet.Outcome{Result: fleet.Unreachable}}, truth{}, false, doubt},
		{said{code: 6, Outcome: fleet.Outcome{Result: fleet.Unreachable}}, truth{draft: "x"}, false, untrue},
		{said{code: 6, Outcome: fleet.Outcome{Result: fleet.Unreachable, Started: true}}, truth{draft: "x"}, false, doubt},
		{said{code: 1, Outcome: fleet.Outcome{Result: fleet.Refused}}, truth{}, false, untrue},
		{said{code: 4, Outcome: fleet.Outcome{Result: fleet.Accepted}}, truth{}, false, untrue},
	} {
		if got := judge(c.said, c.is, c.mute); got != c.want {
			t.Errorf("%d: %q, want %q: %s", i, got, c.want, fmt.Sprintf("%+v %+v", c.said, c.is))
		}
	}
}
