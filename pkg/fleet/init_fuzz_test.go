package fleet

import (
	"strings"
	"testing"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// FuzzParseInit reads what a hostile host may print of itself: whatever it is, the
// plan is whole, and nothing of it that is for people can steer a terminal.
func FuzzParseInit(f *testing.F) {
	f.Add("/home/u/app\n", "file\n/home/u/app\n", "none\n", "answers no yes\n")
	f.Add("/home/u/app\n", "none\n", "file\n[Service]\nX=\x1b]0;x\x07\r\n", "none Failed to connect\x1b[2J")
	f.Add("", "dir\n", "dir\n", "")
	f.Add("/a\nb\n", "file", "file\n"+unitMark, "answers\n")
	f.Fuzz(func(t *testing.T, workdir, file, unit, systemd string) {
		ran := func(s string) transport.Section { return transport.Section{Out: []byte(s), Ran: true} }
		found := parseInit(map[string]transport.Section{"workdir": ran(workdir), "file": ran(file), "unit": ran(unit), "systemd": ran(systemd)})
		p := planInit(Host{Name: "alpha", Workdir: "~/app", Session: "claude", Command: "claude"}, found, true)
		said := strings.Join(p.notes, "\n")
		for _, err := range []error{p.err, p.refused} {
			if err != nil {
				said += "\n" + err.Error() + "\n" + HintOf(err)
			}
		}
		for _, c := range p.changes {
			said += "\n" + c.What + "\n" + c.Diff
		}
		if i := strings.IndexFunc(said, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("a control character in %q", said)
		}
		if len(p.steps) != len(p.changes) || p.err != nil && len(p.steps) > 0 {
			t.Errorf("%d steps, %d changes, %v", len(p.steps), len(p.changes), p.err)
		}
	})
}
