package api

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		prompt string
		want   action
	}{
		{"SAY hello there", action{verb: verbSay, text: "hello there"}},
		{"SAYING hello", action{text: "SAYING hello"}},
		{"SAY", action{text: "SAY"}},
		{"say hello", action{text: "say hello"}},
		{"please SAY hello", action{text: "please SAY hello"}},
		{"Some words first\n  SAY hello\nSAY no", action{verb: verbSay, text: "hello"}},
		{"STREAM 2.5", action{verb: verbStream, text: "2.5", length: 2500 * time.Millisecond}},
		{"STREAM", action{text: "STREAM"}},
		{"STREAM of words", action{text: "STREAM of words"}},
		{"STREAM -1", action{text: "STREAM -1"}},
		{"STREAM NaN", action{text: "STREAM NaN"}},
		{"STREAM 601", action{text: "STREAM 601"}},
		{"LIMIT 3600", action{verb: verbLimit, length: time.Hour}},
		{"LIMIT 1e99", action{text: "LIMIT 1e99"}},
		{"HOLD a", action{verb: verbHold, text: "a"}},
		{"WAIT a", action{verb: verbWait, text: "a"}},
		{"HOLD", action{text: "HOLD"}},
		{"TOOL echo 'a  b'; true", action{verb: verbTool, text: "echo 'a  b'; true"}},
		{"WRITE notes.txt", action{verb: verbWrite, text: "notes.txt"}},
		{"WRITE notes.txt 60", action{verb: verbWrite, text: "notes.txt", lines: 60}},
		{"WRITE my notes.txt", action{verb: verbWrite, text: "my notes.txt"}},
		{"WRITE notes 10001", action{verb: verbWrite, text: "notes 10001"}},
		{"WRITE", action{text: "WRITE"}},
		{"FETCH http://127.0.0.1:1/", action{verb: verbFetch, text: "http://127.0.0.1:1/"}},
		{"CALL mcp__notes__list", action{verb: verbCall, text: "mcp__notes__list"}},
		{"CALL", action{text: "CALL"}},
		{`CALL Skill {"skill": "a b"}`, action{verb: verbCall, text: "Skill", input: `{"skill": "a b"}`}},
		{`CALL Skill {"skill"}`, action{verb: verbCall, text: `Skill {"skill"}`}},
		{`CALL Skill null`, action{verb: verbCall, text: `Skill null`}},
		{"ASK", action{verb: verbAsk}},
		{"ASK me", action{text: "ASK me"}},
		{"PLAN\n", action{verb: verbPlan}},
		{"ERR 529", action{verb: verbError, status: 529}},
		{"ERR 200", action{text: "ERR 200"}},
		{"ERR 600", action{text: "ERR 600"}},
		{"ERR or", action{text: "ERR or"}},
		{"ERR nothing\nERR 400", action{verb: verbError, status: 400}},
		{"ERR 403 no access", action{verb: verbError, text: "no access", status: 403}},
		{"LIMIT 60 seven_day", action{verb: verbLimit, text: "seven_day", length: time.Minute}},
		{"MARKDOWN FAKES", action{verb: verbMarkdown, text: "FAKES"}},
		{"MARKDOWN of mine", action{text: "MARKDOWN of mine"}},
		{"ASK MULTI", action{verb: verbAsk, text: "MULTI"}},
		{"SILENT a", action{verb: verbSilent, text: "a"}},
		{"THINK a", action{verb: verbThink, text: "a"}},
		{"AGENT HOLD a", action{verb: verbAgent, text: "HOLD a"}},
		{"TASK", action{verb: verbTask}},
		{"TASK list", action{text: "TASK list"}},
		{"DROP", action{verb: verbDrop}},
		{"THEN HOLD a", action{text: "THEN HOLD a"}},
		{"  first line \nsecond", action{text: "first line"}},
		{"", action{}},
	} {
		if got := parse(c.prompt); got != c.want {
			t.Errorf("parse(%q) = %+v, want %+v", c.prompt, got, c.want)
		}
	}
}

func TestParseLater(t *testing.T) {
	const prompt = "TOOL echo hi\nTHEN HOLD a\nnot this\nTHEN nothing\n THEN SAY c"
	for results, want := range map[int]action{
		1: {verb: verbHold, text: "a"}, 2: {}, 3: {verb: verbSay, text: "c"}, 4: {},
	} {
		got, ok := parseLater(prompt, results)
		if got != want || ok != (want != action{}) {
			t.Errorf("after %d results: %+v, %v", results, got, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("SAY hello")
	f.Add("words\nLIMIT 1e9\r\nERR 529")
	f.Fuzz(func(t *testing.T, prompt string) {
		a := parse(prompt)
		if a.length < 0 || a.length > maxLimit || (a.verb == verbStream && a.length > maxStream) {
			t.Errorf("parse(%q): length %v", prompt, a.length)
		}
		if a.verb == verbError && (a.status < 400 || a.status > 599) {
			t.Errorf("parse(%q): status %d", prompt, a.status)
		}
		if strings.Contains(a.text, "\n") {
			t.Errorf("parse(%q): text %q is more than a line", prompt, a.text)
		}
	})
}
