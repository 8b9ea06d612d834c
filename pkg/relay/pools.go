package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// maxPools bounds how many kinds of callers are told apart at a time.
	maxPools = 64
	// poolIdle is how long a pool without a call and a connection is kept.
	poolIdle = 10 * time.Minute
	// wholeIdle is how long connections are kept that hang on a whole environment,
	// and maxWhole how many such environments an endpoint has at a time: another
	// caller seldom has the same.
	wholeIdle = time.Minute
	maxWhole  = 4
	// maxNeeds bounds what is remembered of endpoints.
	maxNeeds = 4096
)

// needs is what of a caller's environment decides how an endpoint is reached,
// beside what always does.
type needs struct {
	whole    bool   // all of it, and the directory
	login    bool   // of that, all that a login by ssh has of its own
	patterns string // the variables that go to the host, parted by blanks
}

// always are the variables that count for every endpoint. PATH counts by the ssh
// that it leads to, and the rest of these by the place (see here).
var always = []string{"SSH_AUTH_SOCK", "KRB5CCNAME"}

// harmless are variables that change with each terminal, run and command line, and
// that no more than their writer goes by. Without this each shell would have
// connections of its own to a host behind a ProxyCommand.
var harmless = []string{"_", "SHLVL", "OLDPWD", "PWD", "COLUMNS", "LINES", "WINDOWID", "TMUX", "TMUX_PANE", "CLAUDE*",
	"INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "GPG_TTY", "*_SESSION_ID", "KITTY_*", "WEZTERM_*"}

// of gives the part of a caller's environment that a pool for this need works in,
// and the name of that part.
func (n needs) of(r *request) (env []string, dir, key string) {
	all := make([]string, 0, len(r.Env))
	for _, kv := range r.Env {
		all = append(all, string(kv))
	}
	ssh, _ := transport.LookPath(all, "ssh")
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %t %q\n", ssh, n.whole, agentOf(all))
	sent := transport.SendsOf(strings.Fields(n.patterns), all)
	if n.whole {
		env, dir = slices.DeleteFunc(all, func(kv string) bool { return nameIn(kv, harmless) && !slices.Contains(sent, kv) }), string(r.Dir)
		for i, kv := range env {
			if !n.login && !slices.Contains(sent, kv) {
				env[i] = transport.AnyLogin(kv)
			}
		}
	} else {
		env = append(slices.DeleteFunc(all, func(kv string) bool { return !nameIn(kv, always) }), sent...)
		dir = "/"
	}
	slices.Sort(env)
	fmt.Fprintf(sum, "%q %q\n", env, dir)
	if !n.whole {
		env = append(env, "PATH="+path.Dir(ssh)) // where the ssh binary is looked for
	}
	return env, dir, hex.EncodeToString(sum.Sum(nil))
}

// agentOf tells which socket the agent's is: another agent may be behind the same
// path by now. One that ssh_config names is among the settings of a connection.
func agentOf(env []string) string {
	for _, kv := range slices.Backward(env) {
		if path, ok := strings.CutPrefix(kv, "SSH_AUTH_SOCK="); ok {
			return transport.SocketID(path)
		}
	}
	return ""
}

func nameIn(kv string, names []string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, many := strings.CutSuffix(n, "*")
		suffix, any := strings.CutPrefix(n, "*")
		return n == name || many && strings.HasPrefix(name, prefix) || any && strings.HasSuffix(name, suffix)
	})
}

// pools keeps one transport.Pool for each part of an environment that callers
// bring, so that nobody uses what was made with another's agent or variables. Its
// zero value is ready.
type pools struct {
	mu    sync.Mutex
	held  map[string]*held
	needs map[transport.Endpoint]needs
	ended bool
}

type held struct {
	*transport.Pool
	calls int       // under way; with last, guarded by pools.mu
	last  time.Time // when one ended
	// These are the endpoints that it is for, where it is one of a whole environment.
	whole map[transport.Endpoint]bool
	// These are the callers that may be asked, and how many questions are open to
	// each. An open one holds up the logins of others: the same one, or those to the
	// same address.
	callers map[*caller]int
}

// asked is whether a person other than that of c has a question open.
func (h *held) asked(c *caller) bool {
	for o, n := range h.callers {
		if n > 0 && o.request.Person != c.request.Person {
			return true
		}
	}
	return false
}

// wait counts c among the callers of h, unless it would have to wait for another
// person's answer.
func (p *pools) wait(h *held, c *caller) bool {
	connected := h.Connected(c.request.Endpoint)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !connected && h.asked(c) {
		return false
	}
	if h.callers == nil {
		h.callers = map[*caller]int{}
	}
	h.callers[c] = 0
	return true
}

func (p *pools) unwait(h *held, c *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(h.callers, c)
}

// ask notes a question to the person of c until answered is called, and has the
// others, who would wait for its answer, connect by themselves.
func (p *pools) ask(h *held, c *caller) (answered func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := h.callers[c]; !there { // it has gone, and its login goes on for others
		return func() {}
	}
	h.callers[c]++
	for o, n := range h.callers {
		if n == 0 && o.request.Person != c.request.Person && !o.turned {
			o.turned = true
			close(o.aside)
		}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, there := h.callers[c]; there {
			h.callers[c]--
		}
	}
}

// needsOf is what is known of an endpoint so far.
func (p *pools) needsOf(e transport.Endpoint) needs {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.needs[e]
}

func (p *pools) learn(e transport.Endpoint, n needs) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.needs == nil || len(p.needs) >= maxNeeds {
		p.needs = map[transport.Endpoint]needs{}
	}
	p.needs[e] = n
}

// take gives the pool of that key, which give makes use of again, or nil if there
// is none and make is false, or no room for one. whole is the endpoint, if the
// environment is a whole one.
func (p *pools) take(key string, env []string, dir string, make bool, whole *transport.Endpoint) *held {
	p.mu.Lock()
	h := p.held[key]
	var gone []*held
	if whole != nil && make && (h == nil || !h.whole[*whole]) {
		if n, least := p.wholes(*whole); n >= maxWhole {
			if least == nil && h == nil {
				p.mu.Unlock()
				return nil
			}
			gone = append(gone, least)
		}
	}
	if h == nil && make && !p.ended {
		if len(p.held) >= maxPools {
			gone = append(gone, p.oldest(func(*held) bool { return true }))
		}
		if len(p.held) < maxPools {
			if p.held == nil {
				p.held = map[string]*held{}
			}
			o := transport.Options{Env: env, Dir: dir}
			if whole != nil {
				o.IdleTimeout = wholeIdle
			}
			h = &held{Pool: transport.NewPool(o)}
			p.held[key] = h
		}
	}
	if h != nil {
		h.calls++
		if whole != nil {
			if h.whole == nil {
				h.whole = map[transport.Endpoint]bool{}
			}
			h.whole[*whole] = true
		}
	}
	p.mu.Unlock()
	for _, o := range gone {
		if o != nil {
			_ = o.Close() // nothing runs there
		}
	}
	return h
}

// wholes counts the pools of whole environments for e, and takes one out without a
// call if that makes room.
func (p *pools) wholes(e transport.Endpoint) (n int, gone *held) {
	for _, h := range p.held {
		if h.whole[e] {
			n++
		}
	}
	if n >= maxWhole {
		gone = p.oldest(func(h *held) bool { return h.whole[e] })
	}
	return n, gone
}

// oldest takes out the pool without a call, of those meant, that was used the
// longest ago, or gives nil.
func (p *pools) oldest(meant func(*held) bool) *held {
	found := ""
	for k, h := range p.held {
		if h.calls == 0 && meant(h) && (found == "" || h.last.Before(p.held[found].last)) {
			found = k
		}
	}
	h := p.held[found]
	delete(p.held, found)
	return h
}

func (p *pools) give(h *held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.calls--
	h.last = time.Now()
}

func (p *pools) all() []*held {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*held
	for _, h := range p.held {
		out = append(out, h)
	}
	return out
}

// sweep closes the pools that have been of no use for long.
func (p *pools) sweep(now time.Time) {
	p.mu.Lock()
	var gone []*held
	for k, h := range p.held {
		if h.calls == 0 && now.Sub(h.last) > poolIdle && len(h.Connections()) == 0 {
			delete(p.held, k)
			gone = append(gone, h)
		}
	}
	p.mu.Unlock()
	for _, h := range gone {
		_ = h.Close()
	}
}

// close ends the pools with all that runs on them, as transport.Pool.Close does.
func (p *pools) close() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, h := range p.all() {
		wg.Go(func() { _ = h.Close() })
	}
	wg.Wait()
}
