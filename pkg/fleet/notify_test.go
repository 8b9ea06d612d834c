package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

func changeOf(s Status) StatusChange {
	c, _ := Marks{}.Change(s, date(12))
	return c
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	hostile := asking("$(touch "+dir+"/pwned)", "'; touch "+dir+"/pwned; '", "`touch "+dir+"/pwned`")
	c := CommandNotifier{Line: `cat > ` + dir + `/got; echo said; echo no >&2`, Output: &out}
	if err := c.Notify(t.Context(), changeOf(hostile)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "got"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(got, []byte("\n")) != 1 {
		t.Errorf("not one line: %q", got)
	}
	var change struct {
		ID     string
		Host   string
		Status struct{ Dialog detect.Dialog }
	}
	if err := json.Unmarshal(got, &change); err != nil || change.Host != "web" || change.ID == "" || change.Status.Dialog.Title != hostile.Dialog.Title {
		t.Errorf("%v: %s", err, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("what a host said was run")
	}
	if out.String() != "said\nno\n" {
		t.Errorf("output %q", out.String())
	}
}

func TestCommandFails(t *testing.T) {
	cases := []struct {
		name, line, want string
	}{
		{"a code", "exit 3", "exit status 3"},
		{"no such program", "no-such-program-of-ours", "exit status 127"},
		{"standard input is not read", "exec true", ""},
		{"something stays in the background", "cat >/dev/null; sleep 600 & echo $! > pid", ""},
		{"too slow", "trap '' TERM HUP; sleep 600 & echo $! > pid; wait", "did not end within 1s"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		var out bytes.Buffer
		err := CommandNotifier{Line: "cd " + dir + "; " + c.line, Timeout: time.Second, Output: &out}.Notify(t.Context(), changeOf(asking("a", "b")))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || ClassOf(err) != ClassFailed || !strings.HasPrefix(err.Error(), "web: ")) {
			t.Errorf("%s: %v", c.name, err)
		}
		if pid, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			alive := func() bool {
				stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
				return err == nil && !strings.Contains(string(stat), ") Z ")
			}
			if c.want == "" { // what its owner has put there stays
				if !alive() {
					t.Errorf("%s: it was ended", c.name)
				}
				kill(t, string(pid))
				continue
			}
			rigtest.Eventually(t, 10*time.Second, "its children are ended", func() (bool, string) { return !alive(), string(pid) })
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (CommandNotifier{Line: "sleep 600"}).Notify(ctx, changeOf(asking("a", "b"))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func kill(t *testing.T, pid string) {
	t.Helper()
	if err := shell(t.Context(), "kill -9 "+pid).Run(); err != nil {
		t.Error(err)
	}
}

// teller is a Dispatcher whose clock and Notifier the test has.
type teller struct {
	Dispatcher
	at   time.Time
	got  []string
	fail error
}

func newTeller() *teller {
	n := &teller{at: date(12)}
	n.Notified = Marks{}
	n.Notifier = NotifierFunc(func(_ context.Context, c StatusChange) error {
		if n.fail == nil {
			n.got = append(n.got, c.Status.Host.Name+" "+string(c.Status.State))
		}
		return n.fail
	})
	n.now = func() time.Time { return n.at }
	return n
}

func (n *teller) look(t *testing.T, host string, s Status) (told, later bool) {
	t.Helper()
	s.Host.Name = host
	told, later, err := n.Look(t.Context(), s)
	if (err != nil) != (n.fail != nil && !told && len(n.times) > 0 && n.times[len(n.times)-1].Equal(n.at)) {
		t.Errorf("%s: %v", host, err)
	}
	return told, later
}

func TestDispatcherOnce(t *testing.T) {
	n := newTeller()
	down, ready, busy := statusOf(detect.Down, ""), statusOf(detect.Ready, ""), statusOf(detect.Busy, "")
	for _, s := range []Status{ready, busy, busy, down, down, down, ready, ready} {
		n.at = n.at.Add(time.Minute)
		n.look(t, "a", s)
	}
	if got := strings.Join(n.got, ","); got != "a busy,a down,a ready" {
		t.Errorf("told %s", got)
	}
	n = newTeller()
	n.Only = StatusChange.ConcernsPerson
	for _, s := range []Status{ready, busy, down, down, busy, ready} {
		n.at = n.at.Add(time.Minute)
		n.look(t, "a", s)
	}
	if got := strings.Join(n.got, ","); got != "a down,a busy" {
		t.Errorf("told %s", got)
	}
}

func TestDispatcherLimit(t *testing.T) {
	n := newTeller()
	n.Limit = 2
	down, ready := statusOf(detect.Down, ""), statusOf(detect.Ready, "")
	for _, h := range []string{"a", "b", "c", "d"} {
		if _, later := n.look(t, h, down); later != (h > "b") {
			t.Errorf("%s is left for later: %v", h, later)
		}
	}
	n.at = n.at.Add(59 * time.Second)
	n.look(t, "c", down)
	n.look(t, "d", ready) // it has passed before it could be told
	if got := strings.Join(n.got, ","); got != "a down,b down" {
		t.Errorf("told %s", got)
	}
	n.at = n.at.Add(time.Second)
	n.look(t, "c", down)
	n.look(t, "d", ready)
	if got := strings.Join(n.got, ","); got != "a down,b down,c down" {
		t.Errorf("told %s", got)
	}
}

func TestDispatcherFails(t *testing.T) {
	n := newTeller()
	n.fail = errors.New("no route\x1b[2J")
	down := statusOf(detect.Down, "")
	n.look(t, "a", down)
	n.look(t, "b", down) // one failing host does not keep another from being told
	if len(n.times) != 2 {
		t.Errorf("%d tellings", len(n.times))
	}
	n.at = n.at.Add(time.Second)
	if told, later := n.look(t, "a", down); told || !later || len(n.times) != 2 {
		t.Error("tried again a second later")
	}
	n.at = n.at.Add(10 * time.Second)
	n.fail = nil
	if told, later := n.look(t, "a", down); !told || later {
		t.Error("not told when it could be")
	}
	if got := strings.Join(n.got, ","); got != "a down" {
		t.Errorf("told %s", got)
	}
	if err := notifyError("a", errors.New("x\x1b[2J")); strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}
