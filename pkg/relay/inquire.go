package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrNoServer is that of a socket where no server listens.
var ErrNoServer = errors.New("no server runs")

// Inquire gives what the server at the first of the sockets where one listens tells
// about itself, of whatever version it is. Its error is ErrNoServer where there is none.
func Inquire(ctx context.Context, sockets ...string) (Info, error) {
	i, conn, err := inquire(ctx, kindAsk, sockets)
	if err == nil {
		_ = conn.Close()
	}
	return i, err
}

// Stop tells the server to take no more calls and to end when those that run are
// over, and waits for that until ctx ends. What it tells is from when it was told.
func Stop(ctx context.Context, sockets ...string) (Info, error) {
	i, conn, err := inquire(ctx, kindStop, sockets)
	if err != nil {
		return i, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	_ = conn.SetDeadline(time.Time{})
	if ctx.Err() != nil {
		return i, ctx.Err()
	}
	_, _ = conn.Read(make([]byte, 1)) // its end is the server's word
	return i, ctx.Err()
}

func inquire(ctx context.Context, what kind, sockets []string) (Info, *net.UnixConn, error) {
	var i Info
	conn, _, err := NewClient("", nil, sockets...).greet(ctx, greetDeadline)
	switch {
	case err != nil && absent(err):
		return i, nil, ErrNoServer
	case err != nil:
		return i, nil, err
	}
	deadline := time.Now().Add(greetDeadline)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = conn.SetDeadline(deadline)
	var f frame
	if err = writeFrame(conn, what, struct{}{}); err == nil {
		f, err = readFrame(conn, maxBody)
	}
	if err == nil && f.kind != kindInfo {
		err = errFrame
	}
	if err == nil {
		err = f.into(&i)
	}
	if err != nil {
		_ = conn.Close()
		return i, nil, fmt.Errorf("the server does not answer: %w", err)
	}
	return i, conn, nil
}
