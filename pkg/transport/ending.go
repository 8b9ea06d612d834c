package transport

import (
	"context"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// endDeadline bounds the ending of a script whose caller has gone.
	endDeadline = 10 * time.Second
	// lostDeadline bounds the ending of a script whose connection died, a new
	// connection included.
	lostDeadline = 5 * time.Second
)

// endLost sees to it, over a new connection, that a run which was lost sight of
// is over. A host that knows of the loss does so by itself, but a link may also
// fall silent at this end alone. It gives up after lostDeadline.
func (c *sshConn) endLost(ctx context.Context, lost runID) {
	if !lost.known() {
		return // it has not begun, and can't: its output has no reader
	}
	ctx, cancel := context.WithTimeout(ctx, lostDeadline)
	defer cancel()
	_, _, _ = c.runOnce(ctx, Script{Text: killLostScript(lost)}, closeChannel)
}

// abandon ends a script that nobody waits for. The end of its input tells the
// watchdog beside it, which kills its process group. What that does not end is
// killed through another channel, since a server may not pass on signals (sshd
// does not for root, nor with a forced command), or else by signals, and by
// closing the channel.
func (c *sshConn) abandon(ch *channel, fr *frames) {
	c.pool.endScript(func() {
		ctx, cancel := context.WithTimeout(c.pool.ctx, endDeadline)
		defer cancel()
		ch.link.verifySoon()
		c.end(ctx, ch, fr)
	})
}

// endStill is abandon where the connection has just shown that it lives.
func (c *sshConn) endStill(ch *channel, fr *frames) {
	c.route.forgetShell(ch)
	c.pool.endScript(func() {
		ctx, cancel := context.WithTimeout(c.pool.ctx, endDeadline)
		defer cancel()
		c.end(ctx, ch, fr)
	})
}

func (c *sshConn) end(ctx context.Context, ch *channel, fr *frames) {
	defer ch.finish()
	ch.leave()
	// A lasting shell may have stopped for good before it took the script. It is
	// known from those before.
	early := !fr.begun() && !ch.id.known()
	if early {
		// Where the signal is passed on, the script does not even begin.
		_ = ch.Signal(ssh.SIGTERM)
		if !isClosed(fr.fed) {
			return // of a part, the host runs nothing
		}
		// Its process id may be on its way, or a start-up file still be running.
		select {
		case <-fr.stdout.began:
		case <-ch.over:
		case <-ctx.Done():
		}
	}
	ch.wait(ctx, 2*killGrace)
	id := fr.run()
	if ch.id.known() {
		id = ch.id
	}
	switch {
	case isClosed(ch.over) && !early:
	case id.known():
		_, _, _ = c.runOnce(ctx, Script{Text: killScript(id)}, closeChannel)
	default:
		_ = ch.Signal(ssh.SIGKILL)
	}
}

// closeChannel is the abandon of scripts that end others.
func closeChannel(ch *channel, _ *frames) { ch.finish() }
