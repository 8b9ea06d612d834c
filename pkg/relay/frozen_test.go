package relay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestFrozen goes direct where the server does not greet, and when it falls silent
// amid a call; what a caller's own end says goes first.
func TestFrozen(t *testing.T) {
	_, h, e := box(t, rig.HostSpec{})
	path := socket(t)
	cmd, _ := child(t, serveEnv+"="+path)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	there(t, path)
	p := program(t, transport.Options{}, NewClient("", nil, path))
	began := filepath.Join(t.TempDir(), "began")
	done := make(chan error, 1)
	go func() {
		_, err := p.Conn(e).Run(within(t, time.Minute), transport.Script{Text: fmt.Sprintf("echo $$ >>%s; sleep 300", began)})
		done <- err
	}()
	readPID(t, began)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, transport.ErrCarrierLost) {
		t.Errorf("amid a call: %v", err)
	}
	var told said
	c := NewClient("", told.say, path)
	for range 2 {
		run(t, program(t, transport.Options{}, c), e, "true")
	}
	if !strings.Contains(told.all(), "timeout") || len(told.lines) != 1 {
		t.Errorf("said %q", told.all())
	}
	wantLogins(t, h, 3)
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(context.Canceled) })
	if _, _, err := NewClient("", nil, path).greet(ctx, time.Hour); err == nil {
		t.Error("greeted by a frozen server")
	}
}
