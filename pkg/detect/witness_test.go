package detect

import "testing"

// TestWitnesses tries every pair of screen and second witness. Each line's twin
// is the screen alone.
func TestWitnesses(t *testing.T) {
	turn := prompt("do it") + "\n\n" + answer("Done: it") + "\n"
	screens := map[State]Evidence{
		Ready:   drawn(turn, idle(""), modeLine),
		Busy:    drawn(turn, working(), busyMode),
		Gate:    drawn(accent+boxRule(), "  "+accent+"Exit plan mode?"+plain, "", "  "+accent+"❯ 1. Yes"+plain, "    2. No"),
		Limited: drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"You've hit your session limit · resets 4pm (UTC)"+plain, "", idle(""), modeLine),
		Unauth:  drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Not logged in · Please run /login"+plain, "", idle(""), modeLine),
		Crashed: drawn("Resume this session with:", "claude --resume x", "bash-5.2#"),
		Unknown: drawn("hello"),
	}
	client := func(status string) func(*Evidence) {
		return func(e *Evidence) { e.Client = &Client{Status: status, Since: date(2026, 1, 2, 3, 4)} }
	}
	failed := func(status int, text string) func(*Evidence) {
		return func(e *Evidence) {
			e.Transcript = &Transcript{Event: "api_error", APIStatus: status, Text: text, At: date(2026, 1, 2, 3, 4)}
		}
	}
	process := func(p Process) func(*Evidence) { return func(e *Evidence) { e.Process = p } }
	all := func(s State) map[State]State {
		return map[State]State{Ready: s, Busy: s, Gate: s, Limited: s, Unauth: s, Crashed: s, Unknown: s}
	}
	cases := []struct {
		name string
		with func(*Evidence)
		want map[State]State // what changes; the rest stays
	}{
		{"nothing", func(*Evidence) {}, nil},
		{"dead pane", func(e *Evidence) { e.Dead = true }, all(Crashed)},
		{"process gone", process(ProcessGone), all(Crashed)},
		{"process stopped", process(ProcessStopped), all(Crashed)},
		{"process running", process(ProcessRunning), map[State]State{Crashed: Unknown}},
		{"process not seen", process(ProcessUnseen), map[State]State{Ready: Unknown}},
		{"client idle", client("idle"), nil},
		{"client busy", client("busy"), map[State]State{Ready: Busy}},
		{"client waiting", client("waiting"), map[State]State{Ready: Gate}},
		{"client says a new word", client("dreaming"), nil},
		{"newest event 401", failed(401, "Please run /login · API Error: 401"), map[State]State{Ready: Unauth}},
		{"newest event 401 in words alone", failed(0, "Not logged in · Please run /login"), map[State]State{Ready: Unauth}},
		{"newest event 529", failed(529, "API Error: 529"), nil},
		{"newest event a limit", failed(429, "You've hit your session limit · resets 4pm (UTC)"), map[State]State{Ready: Limited}},
		{"newest event a 429 that is none", failed(429, "API Error: 429 slow down"), nil},
		{"a turn ended", func(e *Evidence) { e.Transcript = &Transcript{Event: "turn_end", APIStatus: 401} }, nil},
		{"copy mode", func(e *Evidence) { e.CopyMode = true }, nil},
	}
	for _, c := range cases {
		for from, e := range screens {
			want := from
			if s, ok := c.want[from]; ok {
				want = s
			}
			c.with(&e)
			v := Classify(e)
			if v.State != want {
				t.Errorf("%s, screen %s: %s by %s (%s), want %s", c.name, from, v.State, v.Rule, v.Why, want)
			}
			if from != Ready && v.Typable() {
				t.Errorf("%s, screen %s: a witness made it typable", c.name, from)
			}
		}
	}
}

// TestLapsedTranscript holds that a limit in the transcript ends with its reset.
func TestLapsedTranscript(t *testing.T) {
	e := drawn(idle(""), modeLine)
	e.Transcript = &Transcript{Event: "api_error", APIStatus: 429, Text: "You've hit your session limit · resets 4pm (UTC)", At: date(2026, 3, 3, 13, 0)}
	e.Now = date(2026, 3, 3, 15, 59)
	if v := Classify(e); v.State != Limited || v.ResetAt == nil || !v.ResetAt.Equal(date(2026, 3, 3, 16, 0)) {
		t.Errorf("before: %s by %s, reset %v", v.State, v.Rule, v.ResetAt)
	}
	e.Now = date(2026, 3, 3, 16, 1)
	if v := Classify(e); v.State != Ready {
		t.Errorf("after: %s by %s", v.State, v.Rule)
	}
}

// TestVim holds that vim mode without a proven INSERT is ready by the screen yet
// never typable.
func TestVim(t *testing.T) {
	normal, insert := drawn(idle(""), modeLine), drawn(idle(""), "  "+grey+"-- INSERT -- "+modeLine)
	cases := []struct {
		name            string
		e               Evidence
		vim, normalMode bool
	}{
		{"no vim", normal, false, false},
		{"vim, no mark", normal, true, true},
		{"vim, INSERT", insert, true, false},
		{"vim, INSERT in the transcript", drawn(answer("-- INSERT --"), "", idle(""), modeLine), true, true},
	}
	for _, c := range cases {
		c.e.VimMode = c.vim
		v := Classify(c.e)
		if v.State != Ready || v.VimNormal != c.normalMode || v.Typable() == c.normalMode {
			t.Errorf("%s: %s, vim normal %v, typable %v", c.name, v.State, v.VimNormal, v.Typable())
		}
	}
}

// TestSince holds that a time is given only by a witness that agrees.
func TestSince(t *testing.T) {
	at := date(2026, 1, 2, 3, 4)
	e := drawn(idle(""), modeLine)
	e.Client = &Client{Status: "idle", Since: at}
	if v := Classify(e); v.Since == nil || !v.Since.Equal(at) {
		t.Errorf("idle and ready: since %v", v.Since)
	}
	e = drawn(working(), busyMode)
	e.Client = &Client{Status: "idle", Since: at}
	if v := Classify(e); v.State != Busy || v.Since != nil {
		t.Errorf("idle and busy: %s since %v", v.State, v.Since)
	}
}

// TestOutdated has a refusal on the screen that is of a login before the client's.
// Only the word of the transcript that ends in it makes a session ready.
func TestOutdated(t *testing.T) {
	screen := drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Not logged in · Please run /login"+plain, "", idle(""), modeLine)
	for name, tt := range map[string]struct {
		transcript *Transcript
		want       State
	}{
		"of the login before": {&Transcript{Event: "api_error", APIStatus: 401, Outdated: true}, Ready},
		"of this login":       {&Transcript{Event: "api_error", APIStatus: 401}, Unauth},
		"not in it":           {&Transcript{Event: "assistant", Outdated: true}, Unauth},
		"not read":            {nil, Unauth},
	} {
		e := screen
		e.Transcript = tt.transcript
		if v := Classify(e); v.State != tt.want {
			t.Errorf("%s: %s by %s", name, v.State, v.Rule)
		}
	}
}
