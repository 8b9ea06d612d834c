package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
)

// verdict is whether a Match line applies. unclear names the first criterion
// that could not be evaluated; hangs is whether the line would apply but for it.
type verdict struct {
	applies, hangs bool
	unclear        string
}

// answer is what is found out about one criterion.
type answer int

const (
	no answer = iota
	yes
	unclear // it cannot be evaluated
	skipped // nothing hangs on it any more
)

func answerOf(holds bool) answer {
	if holds {
		return yes
	}
	return no
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
		var a answer
		switch name {
		case "all":
			if n > 1 || i < len(words) {
				return v, errors.New("all cannot be combined with other criteria")
			}
			a = yes
		case "canonical", "final":
			r.wantFinal = r.wantFinal || name == "final"
			a = answerOf(r.final)
		default:
			if i == len(words) {
				if !sure { // the argument is where the readings part
					a = unclear
					break
				}
				return v, fmt.Errorf("the argument of %s is missing", name)
			}
			var err error
			if a, err = r.criterion(ctx, name, words[i], may && v.applies && v.unclear == "" && sure); err != nil {
				return v, err
			}
			i++
		}
		switch {
		case a == yes && negated, a == no && !negated:
			v.applies = false
		case a == unclear && v.unclear == "":
			v.unclear = name
		}
	}
	if !sure {
		// What failed may have failed for the quotes alone.
		return verdict{hangs: true, unclear: "quoting, which differs between versions of OpenSSH,"}, nil
	}
	v.hangs = v.applies && v.unclear != ""
	v.applies = v.applies && !v.hangs
	return v, nil
}

// criterion evaluates one that has an argument. mayRun is whether the line holds
// up to here.
func (r *fileReader) criterion(ctx context.Context, name, arg string, mayRun bool) (answer, error) {
	switch name {
	case "host":
		host, err := r.hostSoFar()
		return answerOf(matchHost(host, arg)), err
	case "originalhost":
		return answerOf(matchHost(r.target.host, arg)), nil
	case "user":
		return answerOf(matchList(r.userSoFar(), arg)), nil
	case "localuser":
		return answerOf(matchList(localUser(), arg)), nil
	case "tagged":
		return answerOf(matchList(r.first["tag"], arg)), nil
	case "localnetwork":
		holds, err := onNetwork(arg)
		if err != nil {
			return unclear, nil
		}
		return answerOf(holds), nil
	case "sessiontype":
		// What ssh -G says, which has no command.
		kind := strings.ToLower(r.first["sessiontype"])
		if kind == "" || kind == "default" {
			kind = "shell"
		}
		return answerOf(matchList(kind, arg)), nil
	case "command":
		return answerOf(matchList("", arg)), nil
	case "exec":
		return r.matchExec(ctx, arg, mayRun)
	}
	return unclear, nil
}

// matchExec runs a command by the user's shell; its success is the answer.
func (r *fileReader) matchExec(ctx context.Context, line string, mayRun bool) (answer, error) {
	host, err := r.hostSoFar()
	if err != nil {
		return no, err
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
		return no, x.err
	}
	if !mayRun {
		return skipped, nil
	}
	shell := r.parser.env.get("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	r.ran = true
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	r.parser.env.give(cmd)
	inOwnGroup(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		return no, fmt.Errorf("exec %q: %w", line, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Exited()) { // ssh goes no further then either
		return no, fmt.Errorf("exec %q: %w", line, err)
	}
	return answerOf(err == nil), nil
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
