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
		{"ASK", action{verb: verbAsk}},
		{"ASK me", action{text: "ASK me"}},
		{"PLAN\n", action{verb: verbPlan}},
		{"ERR 529", action{verb: verbError, status: 529}},
		{"ERR 200", action{text: "ERR 200"}},
		{"ERR 600", action{text: "ERR 600"}},
		{"ERR or", action{text: "ERR or"}},
		{"ERR nothing\nERR 400", action{verb: verbError, status: 400}},
		{"  first line \nsecond", action{text: "first line"}},
		{"", action{}},
	} {
		if got := parse(c.prompt); got != c.want {
			t.Errorf("parse(%q) = %+v, want %+v", c.prompt, got, c.want)
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
