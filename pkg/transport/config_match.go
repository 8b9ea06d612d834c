package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
)

// verdict is whether a Match line applies. unclear names the first criterion
// that could not be evaluated, where the line hangs on it.
type verdict struct {
	applies bool
	unclear string
}

// match evaluates a Match line with what is known so far. Every criterion must
// hold; a command runs only if all before it do. may is whether anything hangs
// on the line: its mistakes count all the same, and so does a final in it.
func (r *fileReader) match(ctx context.Context, l *configLine, may bool) (verdict, error) {
	words, sure := matchWords(l.rest)
	if len(words) == 0 && sure {
		return verdict{}, errors.New("a criterion is missing")
	}
	v := verdict{applies: true}
	for i, n := 0, 0; i < len(words); n++ {
		name, negated := strings.CutPrefix(strings.ToLower(words[i]), "!")
		i++
		var holds, clear bool
		switch name {
		case "all":
			if n > 1 || i < len(words) {
				return v, errors.New("all cannot be combined with other criteria")
			}
			holds, clear = true, true
		case "canonical", "final":
			r.wantFinal = r.wantFinal || name == "final"
			holds, clear = r.final, true
		default:
			if i == len(words) {
				if !sure {
					break // the argument is where the readings part
				}
				return v, fmt.Errorf("the argument of %s is missing", name)
			}
			var err error
			if holds, clear, err = r.criterion(ctx, name, words[i], may && v.applies && v.unclear == "" && sure); err != nil {
				return v, err
			}
			i++
		}
		switch {
		case clear && holds == negated:
			v.applies = false
		case !clear && v.unclear == "":
			v.unclear = name
		}
	}
	if !sure {
		// What failed may have failed for the quotes alone.
		return verdict{unclear: "quoting, which differs between versions of OpenSSH,"}, nil
	}
	if !v.applies {
		v.unclear = ""
	}
	v.applies = v.applies && v.unclear == ""
	return v, nil
}

// criterion evaluates one that has an argument; clear is false if it can't be.
// mayRun is whether the line holds up to here.
func (r *fileReader) criterion(ctx context.Context, name, arg string, mayRun bool) (holds, clear bool, err error) {
	switch name {
	case "host":
		host, err := r.hostSoFar()
		return matchHost(host, arg), true, err
	case "originalhost":
		return matchHost(r.target.host, arg), true, nil
	case "user":
		return matchList(r.userSoFar(), arg), true, nil
	case "localuser":
		return matchList(localUser(), arg), true, nil
	case "tagged":
		return matchList(r.first["tag"], arg), true, nil
	case "localnetwork":
		holds, err := onNetwork(arg)
		return holds, err == nil, nil
	case "sessiontype":
		// What ssh -G says, which has no command.
		kind := strings.ToLower(r.first["sessiontype"])
		if kind == "" || kind == "default" {
			kind = "shell"
		}
		return matchList(kind, arg), true, nil
	case "command":
		return matchList("", arg), true, nil
	case "exec":
		return r.matchExec(ctx, arg, mayRun)
	}
	return false, false, nil
}

// matchExec runs a command by the user's shell; its success is the answer.
func (r *fileReader) matchExec(ctx context.Context, line string, mayRun bool) (holds, clear bool, err error) {
	host, err := r.hostSoFar()
	if err != nil {
		return false, true, err
	}
	t := target{host: r.target.host, user: r.userSoFar(), port: r.portSoFar()}
	x := newExpander(&settings{
		alias: t.host, host: host, user: t.user, port: t.port,
		hostKeyAlias: r.first["hostkeyalias"], proxyJump: none(r.first["proxyjump"]),
	})
	if r.first["hostkeyalias"] == "" {
		x.tokens['k'] = host
	}
	if line = x.expandTokens(line); x.err != nil {
		return false, true, x.err
	}
	if !mayRun {
		return false, false, nil
	}
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	r.ran = true
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	inOwnGroup(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		return false, true, fmt.Errorf("exec %q: %w", line, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return false, true, fmt.Errorf("exec %q: %w", line, err)
	}
	return err == nil, true, nil
}

// onNetwork is whether an address of this machine is in one of the networks
// of list.
func onNetwork(list string) (bool, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false, err
	}
	found := false
	for p := range strings.SplitSeq(list, ",") {
		p, negated := strings.CutPrefix(p, "!")
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			addr, aerr := netip.ParseAddr(p)
			if aerr != nil {
				return false, err
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		for _, a := range addrs {
			ip, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			if addr, ok := netip.AddrFromSlice(ip.IP); ok && prefix.Contains(addr.Unmap()) {
				if negated {
					return false, nil
				}
				found = true
			}
		}
	}
	return found, nil
}
