package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// party is one of several fleets in a process, and what it alone was told and asked.
type party struct {
	*fleet.Fleet
	mu      sync.Mutex
	asked   []transport.QuestionKind
	notices []string
}

// newParty makes a fleet of one host, "box" for ssh too, which the lines of an
// ssh_config of its own explain.
func newParty(t *testing.T, h *rig.Host, sshConfig string) *party {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(path, []byte(sshConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := fleet.NewTable(fleet.Host{Name: "box", SSHConfig: path, Workdir: "~/" + filepath.Base(h.Workdir), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	p := &party{}
	p.Fleet = fleet.New(table, fleet.WithNotices(func(n fleet.Notice) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notices = append(p.notices, n.Text)
	}), fleet.WithAsk(func(_ context.Context, q transport.Question) (string, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, q.Kind)
		return "yes", nil
	}))
	return p
}

// boxConfig is an ssh_config that calls a host of the rig "box".
func boxConfig(t *testing.T, r *rig.Rig, h *rig.Host, knownHosts, more string) string {
	t.Helper()
	address, port, err := net.SplitHostPort(h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("Host box\nHostName %s\nPort %s\nIdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s\nGlobalKnownHostsFile none\n%s\n",
		address, port, r.IdentityFile(), knownHosts, more)
}

// each runs do for each fleet at once.
func each(parties []*party, do func(i int, p *party)) {
	var wait sync.WaitGroup
	for i, p := range parties {
		wait.Go(func() { do(i, p) })
	}
	wait.Wait()
}

// TestTwoFleets has two fleets in one process whose tables and ssh_config files give
// the same names to different machines: they look and send at once, each is asked and
// told of its own machine alone, and closing the one is nothing to the other. A third
// fleet over the second's table has connections of its own.
func TestTwoFleets(t *testing.T) {
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true}, rig.HostSpec{Name: "beta", Trusted: true, BypassAccepted: true, Proxy: true})
	for _, v := range r.LocalEnv() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	running := goleak.IgnoreCurrent()
	alpha, beta := r.Host("alpha"), r.Host("beta")
	one := newParty(t, alpha, boxConfig(t, r, alpha, filepath.Join(t.TempDir(), "known_hosts"), "StrictHostKeyChecking ask"))
	two := newParty(t, beta, boxConfig(t, r, beta, r.KnownHosts(), "StrictHostKeyChecking yes\nCompression yes"))
	parties := []*party{one, two}
	defer each(parties, func(_ int, p *party) { _ = p.Close() })

	each(parties, func(i int, p *party) {
		for res := range p.Up(t.Context(), p.Table().Hosts...) {
			if res.Err != nil || res.Status.State != detect.Ready {
				t.Errorf("fleet %d: up: %s, %v", i, res.Status.State, res.Err)
			}
		}
	})
	third := fleet.New(two.Table())
	for s := range third.Status(t.Context()) {
		if s.State != detect.Ready {
			t.Errorf("the third fleet sees %s (%s)", s.State, s.Why)
		}
	}
	links := beta.Proxy.Traffic()
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		return
	}

	// Both send; the second fleet's turn goes on when the first is closed.
	turns := make([]fleet.Waited, 2)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		each(parties, func(i int, p *party) {
			for turns[i] = range p.SendAndWait(t.Context(), fmt.Sprintf("HOLD turn-%d", i), fleet.SendOptions{}, 3*time.Minute, p.Table().Hosts...) {
			}
		})
	}()
	rigtest.Eventually(t, 2*time.Minute, "both turns to run", func() (bool, string) {
		return r.API().Holding("turn-0") == 1 && r.API().Holding("turn-1") == 1, fmt.Sprintf("%q", r.API().Prompts())
	})
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	r.API().Release("turn-1")
	<-closed
	if turns[0].Err == nil || turns[0].Result != fleet.Accepted && turns[0].Result != fleet.Unreachable && turns[0].Result != fleet.Submitted {
		t.Errorf("the closed fleet's turn: %+v", turns[0])
	}
	if turns[1].Err != nil || turns[1].Turn == nil || !strings.Contains(turns[1].Turn.Text, "turn-1") {
		t.Errorf("the other's turn: %+v", turns[1])
	}
	// What is known of it can be kept, and its turn be waited for by another program.
	var kept fleet.Outcome
	if text, err := json.Marshal(turns[1].Outcome); err != nil || json.Unmarshal(text, &kept) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if turn, err := two.WaitTurn(t.Context(), kept); err != nil || turn.Text != turns[1].Turn.Text {
		t.Errorf("the turn of the outcome that was kept: %+v, %v", turn, err)
	}
	kept.Record = ""
	if _, err := two.WaitTurn(t.Context(), kept); fleet.ClassOf(err) != fleet.ClassUsage {
		t.Errorf("the turn of an outcome without a record: %v", err)
	}
	if now := beta.Proxy.Traffic(); links.Connections < 2 || now.Connections != links.Connections {
		t.Errorf("connections to the second fleet's machine: %d with the third fleet, %d at the end", links.Connections, now.Connections)
	}
	for _, q := range r.API().Requests() {
		for i, name := range []string{"alpha", "beta"} {
			if q.Prompt == fmt.Sprintf("HOLD turn-%d", i) && !strings.HasSuffix(q.Token, "-"+name) {
				t.Errorf("%s reached the host of %s", q.Prompt, q.Token)
			}
		}
	}

	for s := range one.Status(t.Context()) {
		if s.State != detect.Unreachable || !errors.Is(s.Err, transport.ErrPoolClosed) || !strings.Contains(s.Err.Error(), "the fleet was closed") {
			t.Errorf("the closed fleet sees %s: %v", s.State, s.Err)
		}
	}
	for s := range two.Status(t.Context()) {
		if s.State != detect.Ready {
			t.Errorf("the other sees %s (%s)", s.State, s.Why)
		}
	}
	if len(one.asked) != 1 || one.asked[0] != transport.QuestionHostKey || len(two.asked) != 0 {
		t.Errorf("asked: %v and %v", one.asked, two.asked)
	}
	if told := strings.Join(two.notices, "\n"); strings.Count(told, "Compression") != 1 || strings.Contains(strings.Join(one.notices, "\n"), "Compression") {
		t.Errorf("told: %q and %q", one.notices, two.notices)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	// The scripted API serves the clients from this process, too.
	if err := goleak.Find(running, goleak.IgnoreAnyFunction("net/http.(*conn).serve"), goleak.IgnoreAnyFunction("net/http.(*connReader).backgroundRead")); err != nil {
		t.Error(err)
	}
}
