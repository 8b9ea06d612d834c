package transport

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestShellFallback is the account that a persistent shell can't be had of, but a
// script be run by.
func TestShellFallback(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"the loop is refused": `read -r n; text=$(head -c $n); case $text in *fleet_lines*) exit 1 ;; esac; eval "$text"`,
		// Only the end of the channel tells that no more will come.
		"standard error is lost":   `exec sh -c "$SSH_ORIGINAL_COMMAND" 2>/dev/null`,
		"standard error is joined": `exec sh -c "$SSH_ORIGINAL_COMMAND" 2>&1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startServer(t, "ForceCommand "+command).endpoint()
			p := newPool(t, Options{})
			for i := range 4 {
				res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: fmt.Sprint("echo ", i), Repeatable: true})
				if err != nil || !bytes.Contains(res.Stdout, fmt.Append(nil, i, "\n")) {
					t.Errorf("got %q, %v", res.Stdout, err)
				}
			}
			if shellOf(p, e) != nil {
				t.Error("there is a persistent shell")
			}
			wantSlots(t, p, e)
		})
	}
	t.Run("the loop hangs", func(t *testing.T) {
		t.Parallel()
		e := startServer(t, `ForceCommand read -r n; text=$(head -c $n); case $text in *fleet_lines*) exec sleep 600 ;; esac; eval "$text"`).endpoint()
		p := newPool(t, Options{})
		poll(t, p, e)
		if err := runFor(t, p, e, 2*time.Second, ":"); err == nil {
			t.Error("it does not hang")
		}
		poll(t, p, e) // it has cost one call
		r := p.route(routeKey{Endpoint: e})
		r.mu.Lock()
		r.shellless = time.Now() // the host has been mended
		r.mu.Unlock()
		if err := runFor(t, p, e, 2*time.Second, ":"); err == nil {
			t.Error("a persistent shell is never tried again")
		}
	})
	for name, filter := range map[string]string{
		"standard error comes slowly":     `while IFS= read -r l; do echo "$l"; sleep 2; done >&2`,
		"standard error is held back":     `{ IFS= read -r l; echo "$l"; x=$(cat); echo "$x"; } >&2`,
		"standard error is not held back": `cat >&2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startServer(t, `ForceCommand { sh -c "$SSH_ORIGINAL_COMMAND" 2>&1 >&3 3>&- | `+filter+` 3>&-; } 3>&1`).endpoint()
			p := newPool(t, Options{})
			for range 2 {
				res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo ok; for i in 1 2 3 4; do echo $i >&2; done", Repeatable: true})
				if err != nil || string(res.Stdout) != "ok\n" || string(res.Stderr) != "1\n2\n3\n4\n" {
					t.Errorf("got %q, %q, %v", res.Stdout, res.Stderr, err)
				}
			}
			if (shellOf(p, e) == nil) != strings.HasSuffix(name, "is held back") {
				t.Errorf("a persistent shell: %t", shellOf(p, e) != nil)
			}
			wantSlots(t, p, e)
		})
	}
	t.Run("standard error is lost later on", func(t *testing.T) {
		t.Parallel()
		s := startServer(t)
		lose := s.path("lose")
		s.stop()
		s.config = []string{`ForceCommand [ -e ` + lose + ` ] && exec 2>/dev/null; exec sh -c "$SSH_ORIGINAL_COMMAND"`}
		s.start()
		e := s.endpoint()
		p := newPool(t, Options{})
		poll(t, p, e)
		write(t, lose, "")
		for range 2 {
			res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo ok", Repeatable: true})
			if err != nil || string(res.Stdout) != "ok\n" {
				t.Errorf("got %q, %v", res.Stdout, err)
			}
		}
	})
}
