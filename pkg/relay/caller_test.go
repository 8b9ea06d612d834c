package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestCallerGone ends a script whose caller was killed, unless it is to finish.
func TestCallerGone(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	for _, finish := range []string{"finish", "end"} {
		began, done := filepath.Join(t.TempDir(), "began"), filepath.Join(t.TempDir(), "done")
		script := fmt.Sprintf("echo $$ >%s; while [ ! -e %s.go ]; do sleep 0.1; done; : >%s", began, done, done)
		cmd := child(t, callEnv+"="+script, path, e.Destination, e.ConfigFile, finish)
		pid := readPID(t, began)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if finish == "end" {
			wantEnded(t, pid)
			continue
		}
		if err := os.WriteFile(done+".go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		rigtest.Eventually(t, 30*time.Second, "the script has finished", func() (bool, string) {
			_, err := os.Stat(done)
			return err == nil, ""
		})
	}
}

// TestStopped gives what a pool of the caller's own would give when the time is
// over or the caller has enough, and ends the script.
func TestStopped(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{Proxy: true})
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	for _, late := range []bool{true, false} {
		began := filepath.Join(t.TempDir(), "began")
		ctx, cancel := context.WithCancelCause(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := p.Conn(e).Run(ctx, transport.Script{Text: fmt.Sprintf("echo $$ >%s; sleep 300", began)})
			done <- err
		}()
		pid := readPID(t, began)
		want, is := transport.KindCanceled, context.Canceled
		if late {
			want, is = transport.KindTimeout, context.DeadlineExceeded
		}
		cancel(is)
		err := <-done
		if k, _ := transport.KindOf(err); k != want || !transport.Started(err) || !errors.Is(err, is) {
			t.Errorf("late %t: %v", late, err)
		}
		wantEnded(t, pid)
	}
	wantLogins(t, h, 1)

	// What it was doing when its time was over comes from the server.
	h.Proxy.Cut()
	h.Proxy.Stall()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_, err := p.Conn(e).Run(ctx, transport.Script{Text: "true"})
	if k, _ := transport.KindOf(err); k != transport.KindTimeout || transport.Started(err) || !strings.Contains(err.Error(), "greeting") {
		t.Errorf("stalled: %v", err)
	}
	h.Proxy.Resume()
}

// TestClosed tells of a pool that was closed amid a call.
func TestClosed(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	p := transport.NewPool(transport.Options{Carrier: NewClient("", nil, path)})
	began := filepath.Join(t.TempDir(), "began")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(context.Background(), transport.Script{Text: fmt.Sprintf("echo $$ >%s; sleep 300", began)})
		done <- err
	}()
	pid := readPID(t, began)
	_ = p.Close()
	if err := <-done; !errors.Is(err, transport.ErrPoolClosed) || !transport.Started(err) {
		t.Errorf("%v", err)
	}
	wantEnded(t, pid)
}

// TestNotices tells each program once what ssh_config sets and nobody honours, and
// the one that causes it of a key that was accepted unseen.
func TestNotices(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	known := filepath.Join(t.TempDir(), "known_hosts")
	e.ConfigFile = rewrite(t, r, "UserKnownHostsFile "+r.KnownHosts(), "UserKnownHostsFile "+known, "StrictHostKeyChecking yes", "StrictHostKeyChecking accept-new\n	Compression yes")
	path := socket(t)
	serving(t, Options{}, path)
	for i := range 2 {
		var warned, unhonoured said
		p := program(t, transport.Options{
			Warn:       func(_ transport.Endpoint, text string) { warned.say(text) },
			Unhonoured: func(_ transport.Endpoint, words []string) { unhonoured.say(strings.Join(words, " ")) },
		}, NewClient("", nil, path))
		run(t, p, e, "true")
		run(t, p, e, "true")
		if got := unhonoured.all(); got != "Compression" {
			t.Errorf("program %d: not honoured: %q", i, got)
		}
		if got := warned.all(); strings.Contains(got, "accepted the unknown") != (i == 0) {
			t.Errorf("program %d: warned %q", i, got)
		}
	}
	wantLogins(t, h, 1)
}

// TestProxyCommand leaves a command that fails to a caller who can be asked: it may
// want to ask on the terminal by itself.
func TestProxyCommand(t *testing.T) {
	r, _, e := box(t, rig.HostSpec{})
	ran := filepath.Join(t.TempDir(), "ran")
	e.ConfigFile = rewrite(t, r, "IdentitiesOnly yes", "IdentitiesOnly yes\n	ProxyCommand sh -c 'echo x >>"+ran+"; exit 1'")
	path := socket(t)
	serving(t, Options{}, path)
	asked := 0
	for i, o := range []transport.Options{{}, person{}.options(&asked)} {
		var told said
		_, err := program(t, o, NewClient("", told.say, path)).Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		if k, _ := transport.KindOf(err); k != transport.KindProxy || asked != 0 {
			t.Errorf("%d: %v", i, err)
		}
		times, _ := os.ReadFile(ran)
		if got, want := strings.Count(string(times), "x"), []int{1, 3}[i]; got != want {
			t.Errorf("%d: the command ran %d times, want %d", i, got, want)
		}
		if strings.Contains(told.all(), "may want to ask on the terminal") != (i == 1) {
			t.Errorf("%d: said %q", i, told.all())
		}
	}
}

// person answers with what the map has for a kind of question.
type person map[transport.QuestionKind]string

func (p person) options(asked *int) transport.Options {
	return transport.Options{Ask: func(_ context.Context, q transport.Question) (string, error) {
		*asked++
		return p[q.Kind], nil
	}}
}

// TestQuestions has the person of the very caller answer, and nobody else.
func TestQuestions(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{})
	known := filepath.Join(t.TempDir(), "known_hosts")
	e.ConfigFile = rewrite(t, r, "UserKnownHostsFile "+r.KnownHosts(), "UserKnownHostsFile "+known, "StrictHostKeyChecking yes", "StrictHostKeyChecking ask")
	path := socket(t)
	serving(t, Options{}, path)
	try := func(o transport.Options) error {
		_, err := program(t, o, NewClient("", nil, path)).Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
		return err
	}
	if k, _ := transport.KindOf(try(transport.Options{})); k != transport.KindHostKeyUnknown {
		t.Errorf("nobody to ask: %v", k)
	}
	var asked int
	if k, _ := transport.KindOf(try(person{transport.QuestionHostKey: "no"}.options(&asked))); k != transport.KindHostKeyUnknown || asked != 1 {
		t.Errorf("no: %v, asked %d times", k, asked)
	}
	asked = 0
	if err := try(person{transport.QuestionHostKey: "yes"}.options(&asked)); err != nil || asked != 1 {
		t.Fatalf("yes: %v, asked %d times", err, asked)
	}
	wantLogins(t, h, 1)
	if err := try(person{}.options(&asked)); err != nil || asked != 1 {
		t.Errorf("once more: %v, asked %d times", err, asked)
	}
	wantLogins(t, h, 1)
	// Who can't be asked does not use what a person has answered for.
	if err := try(transport.Options{}); err != nil {
		t.Errorf("nobody to ask, and known: %v", err)
	}
	wantLogins(t, h, 2)
}

// TestUnanswered has no caller wait for an answer of another one's person: it is
// asked itself, whether it comes before the question or after it. The question is
// given up when its caller goes.
func TestUnanswered(t *testing.T) {
	r, h, e := box(t, rig.HostSpec{Proxy: true})
	for _, after := range []bool{true, false} {
		known := filepath.Join(t.TempDir(), "known_hosts")
		e.ConfigFile = rewrite(t, r, "UserKnownHostsFile "+r.KnownHosts(), "UserKnownHostsFile "+known, "StrictHostKeyChecking yes", "StrictHostKeyChecking ask")
		path := socket(t)
		s := serving(t, Options{}, path)
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		asked := make(chan struct{})
		first := program(t, transport.Options{Ask: func(ctx context.Context, _ transport.Question) (string, error) {
			close(asked)
			<-ctx.Done()
			return "", ctx.Err()
		}}, NewClient("", nil, path))
		gone := make(chan error, 1)
		if !after {
			h.Proxy.Stall()
		}
		go func() {
			_, err := first.Conn(e).Run(ctx, transport.Script{Text: "true"})
			gone <- err
		}()
		if after {
			<-asked
		} else {
			rigtest.Eventually(t, 20*time.Second, "the first waits", func() (bool, string) { return waits(s) == 1, "" })
		}
		n := 0
		var told said
		second := program(t, person{transport.QuestionHostKey: "yes"}.options(&n), NewClient("", told.say, path))
		done := make(chan error, 1)
		go func() {
			_, err := second.Conn(e).Run(within(t, time.Minute), transport.Script{Text: "true"})
			done <- err
		}()
		if !after {
			rigtest.Eventually(t, 20*time.Second, "both wait", func() (bool, string) { return waits(s) == 2, "" })
			h.Proxy.Resume()
			<-asked
		}
		if err := <-done; err != nil || n != 1 || !strings.Contains(told.all(), errAsked) {
			t.Errorf("the second: %v, asked %d times, said %q", err, n, told.all())
		}
		leave()
		if k, _ := transport.KindOf(<-gone); k != transport.KindCanceled {
			t.Errorf("the first: %v", k)
		}
		rigtest.Eventually(t, 20*time.Second, "no pool is in use", func() (bool, string) { return waits(s) == 0 && inUse(s) == 0, "" })
	}
	wantLogins(t, h, 2)
}

// waits is how many callers that can be asked have a call under way.
func waits(s *Server) int {
	n := 0
	for _, h := range s.pools.all() {
		s.pools.mu.Lock()
		n += len(h.callers)
		s.pools.mu.Unlock()
	}
	return n
}

// TestAskGone ends a question whose caller has gone, though the login that wants
// its answer goes on for others.
func TestAskGone(t *testing.T) {
	path := socket(t)
	s := serving(t, Options{}, path)
	c := &caller{server: s, conn: raw(t, path), request: &request{}, open: map[int]chan answer{}, gone: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := c.ask(context.Background(), transport.Question{})
		done <- err
	}()
	rigtest.Eventually(t, 20*time.Second, "the question is put", func() (bool, string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.open) == 1, ""
	})
	select {
	case err := <-done:
		t.Errorf("over at once: %v", err)
	default:
	}
	close(c.gone)
	if err := <-done; !errors.Is(err, errCallerGone) {
		t.Errorf("%v", err)
	}
	if len(c.open) != 0 {
		t.Error("the question stays open")
	}
}

// rewrite makes a copy of the rig's ssh_config with some of it replaced.
func rewrite(t *testing.T, r *rig.Rig, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(r.SSHConfig())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// raw is a connection past the greetings.
func raw(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	c, _, err := NewClient("", nil, path).greet(context.Background(), greetDeadline)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestMalformed ends the connection that says nonsense, and no other.
func TestMalformed(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	serving(t, Options{}, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	run(t, p, e, "true")
	for _, bytes := range []string{
		"r\xff\xff\xff\xff\xff\xff\xff\xff", "r\x00\x00\x00\x02\x00\x00\x00\x00[]", "?\x00\x00\x00\x02\x00\x00\x00\x00{}", "GET / HTTP/1.1\r\n\r\n",
		"r\x00\x00\x00\x1b\x00\x00\x00\x00" + `{"endpoint":{"Local":true}}`,
	} {
		c := raw(t, path)
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := c.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(c); len(rest) != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: %q, %v", bytes, rest, err)
		}
	}
	run(t, p, e, "true")
	wantLogins(t, h, 1)
}
