package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// patience is the deadline of hosts in these tests: a machine at its limits may
// take longer to answer than a person would wait.
const patience = "30s"

// sendLimit bounds one process of claude-fleet; what it may wait for in all is
// bounded by the library.
const sendLimit = 4 * time.Minute

// machine is an operator's machine: the binary, with a home, a folder for
// temporary files and a fleet table of its own.
type machine struct {
	bin string
	env []string
}

// buildBinary builds claude-fleet as users have it. It has to be called before
// the test's environment becomes that of a rig.
func buildBinary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "claude-fleet")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, "../../cmd/claude-fleet").CombinedOutput(); err != nil {
		t.Fatalf("build claude-fleet: %v: %s", err, out)
	}
	return bin
}

// newMachine makes an operator's machine of that name, which knows all hosts of
// the rig.
func newMachine(t *testing.T, r *rig.Rig, bin, name string) machine {
	t.Helper()
	dir := filepath.Join(r.Dir(), "operator", name)
	table := filepath.Join(dir, "home", ".config", "claude-fleet", "fleet.conf")
	for _, d := range []string{filepath.Dir(table), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(r.FleetTOML(), "[defaults]\n", "[defaults]\ntimeout = \""+patience+"\"\n", 1)
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(r.LocalEnv(), "HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"), "CLAUDE_FLEET_CONFIG="+table)
	return machine{bin, env} // of two values of a name, the later one holds
}

// said is what a process of claude-fleet said of a prompt.
type said struct {
	code int // its exit code; killed for one that was
	fleet.Outcome
	text string // all of it
}

const killed = -1

func (s said) String() string {
	if s.code == killed {
		return "nothing (it was killed)"
	}
	if s.code == 0 {
		return "0: " + string(s.Result)
	}
	return fmt.Sprintf("%d: %s: %s", s.code, s.Result, s.Detail)
}

// command is a process of claude-fleet that runs.
type command struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	cancel   context.CancelFunc
	done     chan struct{} // closed when it has ended
	broken   error         // why it could not be run or waited for
}

// begin starts claude-fleet on the machine, with a text on its standard input.
func (m machine) begin(stdin string, args ...string) *command {
	ctx, cancel := context.WithTimeout(context.Background(), sendLimit)
	c := &command{cmd: exec.CommandContext(ctx, m.bin, args...), cancel: cancel, done: make(chan struct{})}
	c.cmd.Env, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = m.env, strings.NewReader(stdin), &c.out, &c.err
	c.cmd.WaitDelay = 5 * time.Second
	if c.broken = c.cmd.Start(); c.broken != nil {
		close(c.done)
		return c
	}
	go func() {
		defer close(c.done)
		err := c.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
			c.broken = err
		}
	}()
	return c
}

// end waits for a process and reads what it said.
func (c *command) end(t *testing.T) said {
	t.Helper()
	<-c.done
	c.cancel()
	s := said{code: c.cmd.ProcessState.ExitCode(), text: strings.TrimSpace(c.out.String() + c.err.String())}
	if c.broken != nil {
		t.Errorf("%v: %v", c.cmd.Args[1:], c.broken)
	}
	if s.code == killed {
		return s
	}
	if err := json.Unmarshal(c.out.Bytes(), &s.Outcome); err != nil {
		t.Errorf("%v ended with %d and printed no outcome: %v: %s", c.cmd.Args[1:], s.code, err, s.text)
	}
	return s
}

// run is begin and end.
func (m machine) run(t *testing.T, stdin string, args ...string) said {
	t.Helper()
	return m.begin(stdin, args...).end(t)
}

// up makes all sessions ready. The process is gone then, with what it had on the
// hosts.
func (m machine) up(t *testing.T) {
	t.Helper()
	c := m.begin("", "up", "@all")
	<-c.done
	c.cancel()
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("up ended with %d: %s%s", code, c.out.String(), c.err.String())
	}
}
