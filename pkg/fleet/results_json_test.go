package fleet

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// TestResultsJSON holds results that take over another's fields to their own keys: a
// MarshalJSON that is taken over with them would lose the rest.
func TestResultsJSON(t *testing.T) {
	status := Status{Host: Host{Name: "a"}, Verdict: detect.Verdict{State: detect.Ready}}
	failed := &Error{Class: ClassFailed, Host: "a", Msg: "late"}
	for _, c := range []struct {
		name string
		v    any
		want []string // parts
		not  []string
	}{
		{"watched", Watched{Status: status, Poll: 3, Changed: true, Before: &Mark{State: detect.Busy}},
			[]string{`"host":"a"`, `"state":"ready"`, `"poll":3`, `"changed":true`, `"before":{"state":"busy"`, `"seen_at":`}, nil},
		{"watched first", Watched{Status: status, Poll: 1}, []string{`"before":null`}, nil},
		{"waited", Waited{Outcome: Outcome{Host: "a", Result: Accepted}, Turn: &Turned{Text: "done"}},
			[]string{`"host":"a"`, `"result":"accepted"`, `"turn":{"text":"done"`, `"failure":""`}, []string{"Err"}},
		{"waited in vain", Waited{Outcome: Outcome{Host: "a", Result: Accepted}, Err: failed}, []string{`"turn":null`, `"failure":"a: late"`}, []string{"Err", "Class"}},
		{"not sent", Waited{Outcome: Outcome{Host: "a", Result: Refused, Detail: "late", Err: failed}, Err: failed}, []string{`"detail":"late"`, `"failure":""`}, nil},
		{"import", Import{Host: Host{Name: "a"}, Where: "config:1"}, []string{`"host":{"host":"a"`, `"where":"config:1"`, `"skip":""`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := json.Marshal(c.v)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range c.want {
				if !strings.Contains(string(text), part) {
					t.Errorf("%s\nlacks %s", text, part)
				}
			}
			for _, part := range c.not {
				if strings.Contains(string(text), part) {
					t.Errorf("%s\nhas %s", text, part)
				}
			}
		})
	}
}
