package transcript

import (
	"os"
	"slices"
	"testing"
)

// turnsOf are the records that a version of the client wrote of turns of every
// kind; types that are not read were left out, and long texts cut.
func turnsOf(t *testing.T, version string) []Record {
	t.Helper()
	text, err := os.ReadFile("testdata/turns-" + version + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(ParseRecords(text), Record.Enqueued) // which no row counts
}

// from are the records from the nth (0 is the first) of those that tell of a
// prompt or a command on.
func from(t *testing.T, records []Record, prompt string, nth int) []Record {
	t.Helper()
	for i, r := range records {
		if !Matches(r, prompt) {
			continue
		}
		if nth--; nth < 0 {
			return records[i:]
		}
	}
	t.Fatalf("no record of %q", prompt)
	return nil
}

// TestTurnEnd reads the turns of the real client, record by record as they came:
// each must be told as ended with the record that ends it, and not before.
func TestTurnEnd(t *testing.T) {
	for _, tt := range []struct {
		version, prompt string
		nth             int
		records         int // how many the turn has, the last of which ends it; with 0 none does
		want            End
	}{
		{"2.1.332", "SAY hello there", 0, 3, End{Text: "hello there"}},
		{"2.1.332", "TOOL echo one\nTHEN TOOL echo two\nTHEN SAY both are done", 0, 7, End{Text: "both are done"}},
		{"2.1.332", "TOOL echo bad >&2; false", 0, 5, End{Text: "Done: tool finished"}},
		{"2.1.332", "HOLD h1", 0, 3, End{Text: "Holding h1.", Interrupted: true}},
		{"2.1.332", "TOOL tail -f /dev/null", 0, 4, End{Interrupted: true}},
		{"2.1.332", "WAIT w1", 0, 2, End{Interrupted: true}}, // taken back: the next has the same parent
		{"2.1.332", "ERR 400", 0, 2, End{Text: "API Error: 400 invalid_request_error", Error: true, Status: 400}},
		{"2.1.332", "ERR 401", 0, 2, End{Text: "Please run /login · API Error: 401 authentication_error", Error: true, Status: 401}},
		{"2.1.332", "!echo shell; ls -1 | head -3", 0, 4, End{Text: "Done: <bash-stdout>shell"}},
		{"2.1.332", "/context", 0, 2, End{Text: "Context usage\n⛀ ⛁ ⛁ ⛀ ⛀ ⛶ ⛶ ⛶ ⛶ ⛶ cutll to expand"}},
		{"2.1.332", "/model sonnet", 0, 2, End{Text: "Set model to `Sonnet 5.5` and saved as your default for new sessions"}},
		{"2.1.332", "HOLD q1", 0, 3, End{Text: "Holding q1.\n\nDone: HOLD q1"}},
		{"2.1.332", "SAY queued one", 0, 4, End{Text: "queued two"}}, // both were taken into one turn
		{"2.1.332", "SAY queued two", 0, 3, End{Text: "queued two"}},
		{"2.1.332", "SAY steered now", 0, 6, End{Text: "Done: tool finished"}},
		{"2.1.332", "DELEGATE SAY from afar", 0, 5, End{Text: "Done: tool finished"}},
		{"2.1.332", "ASK", 0, 5, End{Text: "Done: tool finished"}},
		{"2.1.332", "ASK", 1, 4, End{Interrupted: true}},
		{"2.1.332", "THINK t1", 0, 4, End{Text: "Done: THINK t1"}},
		{"2.1.332", "LIMIT 3600", 0, 2, End{Text: "You've hit your 5-hour limit · resets 3:56am (UTC)", Error: true, Status: 429}},
		{"2.1.332", "ERR 529", 0, 2, End{Interrupted: true}},
		{"2.1.332", "/compact keep names", 0, 2, End{Text: "Compacted (ctrl+o to see full summary)"}},
		{"2.1.332", "HOLD k1", 1, 0, End{}}, // the client was killed

		{"2.1.332", "/greet you", 0, 5, End{Text: "greetings to you"}},
		{"2.1.332", "SAY please go on", 0, 7, End{Text: "please go on\n\nplease go on"}}, // a hook let it

		// A "!" command's output goes to the model, and nothing in it tells.
		{"2.1.217", "!echo shell; ls -1 | head -3", 0, 4, End{Text: "Done: <bash-stdout>shell"}},
		{"2.1.217", "/usage", 0, 2, End{Text: "Settings dialog dismissed"}},
		{"2.1.217", "ERR 401", 0, 2, End{Text: "Please run /login · API Error: 401 authentication_error", Error: true, Status: 401}},
		{"2.1.217", "WAIT w1", 0, 2, End{Interrupted: true}},

		// This version writes nothing at the end: what comes next tells.
		{"2.1.85", "SAY hello there", 0, 3, End{Text: "hello there"}},
		{"2.1.85", "TOOL echo one\nTHEN TOOL echo two\nTHEN SAY both are done", 0, 7, End{Text: "both are done"}},
		{"2.1.85", "HOLD h1", 0, 3, End{Text: "Holding h1.", Interrupted: true}},
		{"2.1.85", "TOOL tail -f /dev/null", 0, 4, End{Interrupted: true}},
		{"2.1.85", "WAIT w1", 0, 2, End{Interrupted: true}},
		{"2.1.85", "ERR 400", 0, 2, End{Text: `API Error: 400 {"error":{"message":"invalid_request_error","type":"invalid_request_error"},"type":"error"}`, Error: true}},
		{"2.1.85", "ERR 401", 0, 8, End{Interrupted: true}}, // while it tried again
		{"2.1.85", "/model sonnet", 0, 2, End{Text: "Set model to Sonnet 4.6"}},
		{"2.1.85", "HOLD q1", 0, 3, End{Text: "Holding q1.\n\nDone: HOLD q1"}},
		{"2.1.85", "SAY queued one", 0, 4, End{Text: "queued two"}},
		{"2.1.85", "TOOL tail -f /dev/null --pid=$(cat pid)", 0, 0, End{Text: "Done: tool finished"}}, // nothing came next
	} {
		records := from(t, turnsOf(t, tt.version), tt.prompt, tt.nth)
		for n := 1; n <= len(records); n++ {
			end, ended := TurnEnd(records[:n])
			want := tt.records > 0 && n >= tt.records
			if ended != want || !ended && (end.Error || end.Interrupted) {
				t.Errorf("%s: %.40q: after %d records ended is %v: %+v", tt.version, tt.prompt, n, ended, end)
				break
			}
			if (ended || n == len(records)) && end != tt.want {
				t.Errorf("%s: %.40q: after %d records %+v, want %+v", tt.version, tt.prompt, n, end, tt.want)
				break
			}
		}
	}
}

// TestTurnEndOf has sequences that the recorded turns lack, each beside one that
// differs in what counts.
func TestTurnEndOf(t *testing.T) {
	record := func(typ string, blocks ...Block) Record { return Record{Type: typ, Blocks: blocks} }
	text := func(s string) Block { return Block{Kind: "text", Text: s} }
	use, result := Block{Kind: "tool_use", Tool: "Bash"}, Block{Kind: "tool_result", Text: "out"}
	ask := Record{Type: "user", ID: "p", Parent: "0", Blocks: []Block{text("go")}}
	is := func(r Record, change func(*Record)) Record { change(&r); return r }
	say := record("assistant", text("said"))
	over := Record{Type: "system", Subtype: "turn_duration"}
	stop := Record{Type: "system", Subtype: HookStopped, Blocks: []Block{text("halted")}}
	side := func(r *Record) { r.Side = true }
	meta := func(r *Record) { r.Meta = true }
	shell := record("user", text("<bash-stdout>a\n</bash-stdout><bash-stderr>b</bash-stderr>"))
	for name, tt := range map[string]struct {
		records []Record
		want    End
		ended   bool
	}{
		"nothing":                   {nil, End{}, false},
		"the prompt alone":          {[]Record{ask}, End{}, false},
		"an end before the prompt":  {[]Record{over}, End{}, false},
		"said":                      {[]Record{ask, say}, End{Text: "said"}, false},
		"ended":                     {[]Record{ask, say, over}, End{Text: "said"}, true},
		"ended with nothing said":   {[]Record{ask, over}, End{}, true},
		"ended by a hook":           {[]Record{ask, record("assistant", use), stop, over}, End{Stopped: "halted"}, true},
		"words behind a hook":       {[]Record{ask, record("assistant", use), stop, say, over}, End{Text: "said"}, true},
		"a subagent's end":          {[]Record{ask, say, is(over, side)}, End{Text: "said"}, false},
		"a subagent's words":        {[]Record{ask, is(say, side), over}, End{}, true},
		"a subagent's refusal":      {[]Record{ask, is(say, func(r *Record) { r.Side, r.APIError = true, true }), over}, End{}, true},
		"the client's own words":    {[]Record{ask, is(record("user", text("Stop hook feedback:")), meta), say, over}, End{Text: "said"}, true},
		"a summary in between":      {[]Record{ask, say, is(record("user", text("This session is")), func(r *Record) { r.Summary = true }), say, over}, End{Text: "said\n\nsaid"}, true},
		"another system record":     {[]Record{ask, say, {Type: "system", Subtype: "informational"}}, End{Text: "said"}, false},
		"words before a tool":       {[]Record{ask, say, record("assistant", use), over}, End{}, true},
		"words beside a tool":       {[]Record{ask, record("assistant", text("before"), use, text("behind")), over}, End{Text: "behind"}, true},
		"words before a result":     {[]Record{ask, say, record("user", result), say, say, over}, End{Text: "said\n\nsaid"}, true},
		"blank words":               {[]Record{ask, record("assistant", text(" \n")), over}, End{}, true},
		"a prompt after words":      {[]Record{ask, say, record("user", text("next"))}, End{Text: "said"}, true},
		"a prompt after none":       {[]Record{ask, record("user", text("next"))}, End{}, false},
		"a prompt in its place":     {[]Record{ask, is(record("user", text("next")), func(r *Record) { r.Parent = "0" })}, End{Interrupted: true}, true},
		"a prompt of other parents": {[]Record{ask, is(record("user", text("next")), func(r *Record) { r.Parent = "p" })}, End{}, false},
		"no parents known":          {[]Record{is(ask, func(r *Record) { r.Parent = "" }), record("user", text("next"))}, End{}, false},
		"a prompt that was queued":  {[]Record{ask, say, is(record("user", text("next")), func(r *Record) { r.Subtype = queuedCommand })}, End{Text: "said"}, false},
		"a notice after words":      {[]Record{ask, say, is(record("user", text("x")), func(r *Record) { r.Origin = taskNotification })}, End{Text: "said"}, true},
		"typed as a notice":         {[]Record{ask, is(record("user", text("<task-notification>\nx")), func(r *Record) { r.Origin = human })}, End{}, false},
		"resumed amid it":           {[]Record{ask, say, is(record("assistant", text("No response requested.")), func(r *Record) { r.Resumed = true })}, End{Text: "said", Interrupted: true}, true},
		"a shell's output":          {[]Record{ask, shell}, End{Text: "a\nb"}, false},
		"words on a shell's output": {[]Record{ask, shell, say, over}, End{Text: "said"}, true},
		"a prompt after output":     {[]Record{ask, shell, record("user", text("next"))}, End{Text: "a\nb"}, true},
		"output":                    {[]Record{ask, record("user", text("<local-command-stdout>a</local-command-stdout>"))}, End{Text: "a"}, true},
		"output of nothing":         {[]Record{ask, record("user", text("<local-command-stdout></local-command-stdout>"))}, End{}, true},
		"typed as output":           {[]Record{ask, is(shell, func(r *Record) { r.Origin = human })}, End{}, false},
	} {
		if end, ended := TurnEnd(tt.records); end != tt.want || ended != tt.ended {
			t.Errorf("%s: %+v, %v", name, end, ended)
		}
	}
}
