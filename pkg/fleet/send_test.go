package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// TestSendBeforeTyping has every way in which a send ends before it types say
// so: the result is Refused or Unreachable, never empty.
func TestSendBeforeTyping(t *testing.T) {
	f := New(&Table{Hosts: []Host{
		{Name: "a", Transport: TransportLocal, Session: "no-such-session-of-anybody", Workdir: "~", Timeout: 20 * time.Second},
		{Name: "b", Transport: TransportSSH, SSH: "nobody@127.0.0.1:1", Session: "claude", Workdir: "~", Timeout: 20 * time.Second},
	}})
	t.Cleanup(func() { _ = f.Close() })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name         string
		ctx          context.Context
		host, prompt string
		result       Result
		class        Class
		says         string
	}{
		{"a host that is not in the table", t.Context(), "x", "hello", Refused, ClassUsage, "x"},
		{"an empty prompt", t.Context(), "a", " ", Refused, ClassUsage, "empty"},
		{"a command of the client", t.Context(), "a", "/exit", Refused, ClassRefused, "nothing was typed"},
		{"a session that is down", t.Context(), "a", "hello", Refused, ClassRefused, "nothing was typed"},
		{"a machine that does not answer", t.Context(), "b", "hello", Unreachable, ClassUnreachable, "unreachable"},
		{"an interrupted call", cancelled, "a", "hello", Refused, ClassFailed, "interrupted"},
	} {
		out, err := f.Send(c.ctx, c.host, c.prompt, SendOptions{})
		if out.Result != c.result || ClassOf(err) != c.class || err == nil || !strings.Contains(err.Error(), c.says) || out.Detail == "" {
			t.Errorf("%s: %+v, class %d, %v", c.name, out, ClassOf(err), err)
		}
	}
}

// TestProveInterrupted holds that nothing is claimed of a conversation that an
// interrupted caller did not read.
func TestProveInterrupted(t *testing.T) {
	h := Host{Name: "a", Transport: TransportLocal, Timeout: 20 * time.Second}
	f := New(&Table{Hosts: []Host{h}})
	t.Cleanup(func() { _ = f.Close() })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	a := attempt{conversation: "00000000-0000-0000-0000-000000000000", stages: []tmux.Stage{tmux.StageSubmitted}}
	err := (&sending{f: f, h: h}).settle(cancelled, a)
	if ClassOf(err) != ClassUnproven || err.Error() != "a: the prompt was submitted; interrupted before the conversation could show it" {
		t.Errorf("class %s, %v", ClassOf(err), err)
	}
	a.conversation = ""
	err = (&sending{f: f, h: h}).settle(t.Context(), a)
	if ClassOf(err) != ClassUnproven || !strings.Contains(err.Error(), "keeps no session file") {
		t.Errorf("class %s, %v", ClassOf(err), err)
	}
}
