package fleet

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

func statusOf(state detect.State, reason string, flags ...string) Status {
	return Status{Host: Host{Name: "web"}, Verdict: detect.Verdict{State: state}, Reason: reason, Flags: flags}
}

func asking(title string, options ...string) Status {
	s := statusOf(detect.Gate, "")
	s.Dialog = &detect.Dialog{Title: title, Options: options}
	return s
}

func TestMarkSame(t *testing.T) {
	moved := asking("Do you want to proceed?", "Yes", "No")
	moved.Dialog.Selected = 1
	cases := []struct {
		name string
		a, b Status
		same bool
	}{
		{"nothing", statusOf(detect.Ready, ""), statusOf(detect.Ready, ""), true},
		{"state", statusOf(detect.Ready, ""), statusOf(detect.Busy, ""), false},
		{"flags", statusOf(detect.Ready, "", "disk"), statusOf(detect.Ready, "", "disk", "draft"), false},
		{"flags in another order", statusOf(detect.Ready, "", "disk", "draft"), statusOf(detect.Ready, "", "draft", "disk"), true},
		{"dead in two ways", statusOf(detect.Unreachable, "timeout"), statusOf(detect.Unreachable, "connect"), true},
		{"now a person has to mend it", statusOf(detect.Unreachable, "timeout"), statusOf(detect.Unreachable, "host key changed"), false},
		{"the same dialog", asking("Do you want to proceed?", "Yes", "No"), moved, true},
		{"another label", asking("Do you want to proceed?", "Yes", "No"), asking("Do you want to proceed?", "Yes", "Never"), false},
		{"a box that is ticked", asking("☐ Database", "[ ] SQLite", "[ ] Postgres"), asking("☒ Database", "[✔] SQLite", "[ ] Postgres"), true},
		{"another title", asking("Bash", "Yes"), asking("Edit", "Yes"), false},
		{"labels cut elsewhere", asking("a", "b c"), asking("a", "b", "c"), false},
	}
	for _, c := range cases {
		now := time.Now()
		if got := c.a.Mark(now).Same(c.b.Mark(now.Add(time.Hour))); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		}
	}
}

func TestMarksChange(t *testing.T) {
	at := date(12)
	cases := []struct {
		name             string
		was              *Status // nil: not seen before
		now              Status
		changed, concern bool
	}{
		{"a host that is well, for the first time", nil, statusOf(detect.Busy, ""), false, false},
		{"a host that is not", nil, statusOf(detect.Down, ""), true, true},
		{"the same", ptr(statusOf(detect.Down, "")), statusOf(detect.Down, ""), false, true},
		{"worse", ptr(statusOf(detect.Busy, "")), asking("Bash", "Yes"), true, true},
		{"well again", ptr(asking("Bash", "Yes")), statusOf(detect.Busy, ""), true, true},
		{"nobody's concern", ptr(statusOf(detect.Busy, "")), statusOf(detect.Ready, ""), true, false},
	}
	for _, c := range cases {
		m := Marks{}
		if c.was != nil {
			m.Note(*c.was, at)
		}
		got, changed := m.Change(c.now, at.Add(time.Minute))
		if changed != c.changed || got.ConcernsPerson() != c.concern {
			t.Errorf("%s: changed %v, concerns a person %v", c.name, changed, got.ConcernsPerson())
		}
		if got.ID == "" || (got.Was == nil) != (c.was == nil) {
			t.Errorf("%s: %+v", c.name, got)
		}
		m.Note(c.now, at.Add(time.Minute))
		if _, again := m.Change(c.now, at.Add(2*time.Minute)); again {
			t.Errorf("%s: told again", c.name)
		}
	}
}

// TestChangeID holds that the id goes by what changed, and so is the same in a
// second telling and another for the next time that the same comes about.
func TestChangeID(t *testing.T) {
	ready, down := statusOf(detect.Ready, ""), statusOf(detect.Down, "")
	m := Marks{}
	m.Note(ready, date(10))
	first, _ := m.Change(down, date(11))
	second, _ := m.Change(down, date(12))
	since := down
	since.Since = ptr(date(11))
	third, _ := m.Change(since, date(13))
	since.Since = ptr(date(12))
	if fourth, _ := m.Change(since, date(13)); fourth.ID == third.ID {
		t.Error("it was well in between, and has one id")
	}
	if first.ID != second.ID {
		t.Errorf("one change has the ids %s and %s", first.ID, second.ID)
	}
	m.Note(down, date(11))
	m.Note(down, date(12))
	if at := m["web"].At; !at.Equal(date(11)) {
		t.Errorf("down since %s", at)
	}
	m.Note(ready, date(13))
	if next, _ := m.Change(down, date(14)); next.ID == first.ID {
		t.Error("the next time has the same id")
	}
	other := down
	other.Host.Name = "db"
	m["db"] = m["web"]
	a, _ := m.Change(down, date(14))
	b, _ := m.Change(other, date(14))
	if a.ID == b.ID {
		t.Error("two hosts have one id")
	}
}

func TestChangeJSON(t *testing.T) {
	m := Marks{}
	c, _ := m.Change(asking("Bash\u202e\u0085\u007f", "Yes"), date(12))
	out, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(out), "\u202e\u0085\u007f") {
		t.Errorf("a terminal might obey %q", out)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"id", "at", "host", "needs_person", "was", "status"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no %q in %s", key, out)
		}
	}
	if got["host"] != "web" || got["needs_person"] != true || got["was"] != nil || got["status"].(map[string]any)["dialog"].(map[string]any)["title"] != "Bash\u202e\u0085\u007f" {
		t.Errorf("%s", out)
	}
}

func ptr[T any](v T) *T { return &v }

func date(hour int) time.Time { return time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC) }
