package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// standIn is an SSH server that asks what PAM can't be made to. It ends with the
// test.
type standIn struct {
	*server
	wg sync.WaitGroup
}

// startStandIn serves the handshake of config, and sh for what is run, on the
// address of a server whose sshd is stopped.
func startStandIn(t *testing.T, config *ssh.ServerConfig) *standIn {
	t.Helper()
	s := &standIn{server: startServer(t)}
	s.stop()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	config.AddHostKey(key)
	s.know(key.PublicKey())
	l, err := net.Listen("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	s.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(conn, config) })
		}
	})
	// Before the pools, which cleanups close first.
	t.Cleanup(func() { _ = l.Close(); s.wg.Wait() })
	return s
}

func (s *standIn) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	_, chans, reqs, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	s.wg.Go(func() { ssh.DiscardRequests(reqs) })
	for nc := range chans {
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			for r := range reqs {
				_ = r.Reply(r.Type == "exec", nil)
				if r.Type != "exec" {
					continue
				}
				var run struct{ Command string }
				_ = ssh.Unmarshal(r.Payload, &run)
				s.wg.Go(func() { runOn(ch, run.Command) })
			}
		})
	}
}

// runOn runs a command on a channel.
func runOn(ch ssh.Channel, command string) {
	defer func() { _ = ch.Close() }()
	cmd := exec.Command("/bin/sh", "-c", command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	if cmd.Start() != nil {
		return
	}
	copied := make(chan struct{})
	go func() { defer close(copied); _, _ = io.Copy(in, ch); _ = in.Close() }()
	code := 0
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
	_ = ch.Close()
	<-copied
}
