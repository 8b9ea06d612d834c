package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// bindTries is how many ports are tried: between choosing a free one and
// sshd's bind another process may take it.
const bindTries = 8

// sshd is one running daemon.
type sshd struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has been waited for
}

// makeSSHD writes what the host's sshd needs and starts it on a free port.
func (h *Host) makeSSHD(context.Context) error {
	if err := os.MkdirAll(h.sshdFile(""), 0o700); err != nil {
		return err
	}
	if runtime.GOOS == "linux" && os.Getuid() == 0 {
		// Debian's sshd chroots the unprivileged half of it into this folder, which
		// its service would make.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	var err error
	if h.hostKey, err = writeKey(h.sshdFile("host_key")); err != nil {
		return err
	}
	if err := os.WriteFile(h.sshdFile("authorized_keys"), ssh.MarshalAuthorizedKey(h.rig.operatorKey), 0o600); err != nil {
		return err
	}
	if err := h.writeLoginShell(); err != nil {
		return err
	}
	for range bindTries {
		if h.SSHDAddr, err = freeAddr(); err != nil {
			return err
		}
		if err = h.StartSSHD(); !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if err != nil {
		return err
	}
	h.Addr = h.SSHDAddr
	if h.spec.Proxy {
		if h.Proxy, err = NewProxy(h.SSHDAddr); err != nil {
			return err
		}
		h.Addr = h.Proxy.Addr()
	}
	return nil
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// StartSSHD starts the host's sshd on SSHDAddr, where it was before a StopSSHD.
// It returns when the daemon listens. The error is syscall.EADDRINUSE where
// another process has taken the port.
func (h *Host) StartSSHD() error {
	if h.Local {
		return fmt.Errorf("host %s is local and has no sshd", h.Name)
	}
	if h.sshd != nil {
		return fmt.Errorf("host %s: sshd runs already", h.Name)
	}
	if err := h.writeSSHDConfig(); err != nil {
		return err
	}
	log, err := os.Create(h.sshdFile("log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	d := &sshd{exited: make(chan struct{})}
	d.cmd = exec.Command(h.rig.tools.sshd, "-D", "-e", "-f", h.sshdFile("config"))
	d.cmd.Stdout, d.cmd.Stderr = log, log
	// A group of its own: a Ctrl-C for the test is not for the host.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start sshd: %w", err)
	}
	go func() {
		defer close(d.exited)
		_ = d.cmd.Wait() // it is always ended by a signal, or says why in its log
	}()
	h.sshd = d
	pid := strconv.Itoa(d.cmd.Process.Pid)
	if err := os.WriteFile(h.sshdFile("pid"), []byte(pid+"\n"), 0o600); err != nil {
		return errors.Join(err, h.StopSSHD())
	}
	if err := h.waitListening(d); err != nil {
		return errors.Join(err, h.StopSSHD())
	}
	return nil
}

// waitListening reads the daemon's log rather than dialling: the port might
// answer for another rig's sshd.
func (h *Host) waitListening(d *sshd) error {
	late := time.After(30 * time.Second) // a loaded machine, not a slow sshd
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := os.ReadFile(h.sshdFile("log"))
		if err != nil {
			return err
		}
		if bytes.Contains(out, []byte("Server listening on")) {
			return nil
		}
		select {
		case <-tick.C:
		case <-d.exited:
			out, _ := os.ReadFile(h.sshdFile("log"))
			if bytes.Contains(out, []byte("Address already in use")) {
				return fmt.Errorf("sshd on %s: %w", h.SSHDAddr, syscall.EADDRINUSE)
			}
			return fmt.Errorf("sshd ended at once: %s", bytes.TrimSpace(out))
		case <-late:
			return fmt.Errorf("sshd does not listen after 30 s: %s", bytes.TrimSpace(out))
		}
	}
}

// StopSSHD kills the host's sshd with all its sessions: connections break, and
// new ones are refused. What the host runs apart from them, tmux above all,
// goes on.
func (h *Host) StopSSHD() error {
	if h.sshd == nil {
		return fmt.Errorf("host %s: no sshd runs", h.Name)
	}
	// Stopped first, so that it starts no session behind the listing.
	err := h.signalSSHD(syscall.SIGSTOP)
	err = errors.Join(err, h.signalSSHD(syscall.SIGKILL))
	select {
	case <-h.sshd.exited:
	case <-time.After(10 * time.Second):
		return errors.Join(err, fmt.Errorf("host %s: sshd %d does not end", h.Name, h.sshd.cmd.Process.Pid))
	}
	h.sshd = nil
	return err
}

// FreezeSSHD stops the sshd and its sessions where they are: connections stay
// and say nothing more, and new ones are taken by the kernel but never greeted.
func (h *Host) FreezeSSHD() error { return h.signalSSHD(syscall.SIGSTOP) }

// ThawSSHD lets them go on.
func (h *Host) ThawSSHD() error { return h.signalSSHD(syscall.SIGCONT) }

// signalSSHD signals the daemon first and then each of its sessions.
func (h *Host) signalSSHD(sig syscall.Signal) error {
	d := h.sshd
	if d == nil {
		return fmt.Errorf("host %s: no sshd runs", h.Name)
	}
	select {
	case <-d.exited:
		return nil
	default:
	}
	pid := d.cmd.Process.Pid
	sessions := func() ([]int, error) { return descendants(pid, "sshd") }
	pids, err := sessions()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal sshd: %w", err)
	}
	if sig == syscall.SIGSTOP {
		// A session may have begun before the stop took.
		if pids, err = sessions(); err != nil {
			return err
		}
	}
	for _, p := range pids {
		if err := syscall.Kill(p, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal a session of sshd: %w", err)
		}
	}
	return nil
}

// SSHDLog is what the sshd has logged since its last start.
func (h *Host) SSHDLog() string {
	out, err := os.ReadFile(h.sshdFile("log"))
	if err != nil {
		return ""
	}
	return string(out)
}
