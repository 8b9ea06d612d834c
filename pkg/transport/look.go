package transport

import (
	"context"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Look is what the way to an endpoint hangs on, and what is to be told of it.
type Look struct {
	// Patterns are the names that SendEnv says, with the wildcards * and ?; see SendsOf.
	Patterns []string
	// Whole is whether a command of ssh_config, or a variable that it names, may
	// make anything of the environment and the directory count.
	Whole bool
	// Login is whether a file names a variable that each login has with another
	// value; see AnyLogin.
	Login bool
	// Command is whether there is a ProxyCommand on the way.
	Command bool
	// Relative is whether a file is named that is looked for in the directory of
	// this process.
	Relative bool
	// Unhonoured and Warnings are what Options.Unhonoured and Options.Warn are told
	// where a call is for no Person.
	Unhonoured, Warnings []string
}

// Look reads ssh_config for e and the hops before it, and sees to it that no
// connection is given out any more which would not be made so now: its settings
// are others, or known_hosts has changed and does not vouch for its key. What runs
// on such a connection goes on to its end. Its error is an *Error.
func (p *Pool) Look(ctx context.Context, e Endpoint) (Look, error) {
	var l Look
	ctx, leave, err := p.enter(ctx, e)
	if err != nil {
		return l, err
	}
	defer leave()
	first := routeKey{Endpoint: e}
	s, rerr := p.resolve(ctx, first)
	if rerr != nil {
		return l, rerr
	}
	var retire []func() // a hop before what goes through it
	for at, hops := first, 0; ; hops++ {
		l.add(s, at == first)
		k, now := at, s
		retire = append(retire, func() { p.retireOutdated(k, now) })
		if s.proxyJump == "" || s.proxyCommand != "" || hops > maxHops {
			break
		}
		at = lastHop(at.Endpoint, s.proxyJump)
		if s, rerr = p.resolve(ctx, at); rerr != nil {
			break // which the dial tells
		}
	}
	for _, f := range slices.Backward(retire) {
		f()
	}
	slices.Sort(l.Patterns)
	l.Patterns = slices.Compact(l.Patterns)
	return l, nil
}

// add adds the settings of the endpoint, which is the end of the chain, or a hop.
func (l *Look) add(s *settings, end bool) {
	l.Patterns = append(l.Patterns, s.sendEnv...)
	l.Whole = l.Whole || s.proxyCommand != "" || s.origin.ran || s.origin.variables
	l.Login = l.Login || s.origin.login
	l.Command = l.Command || s.proxyCommand != ""
	for _, f := range slices.Concat(s.userKnown, s.globalKnown, s.identities, s.certificates, []string{s.revoked, s.agent, s.forwardAgent}) {
		l.Relative = l.Relative || f != "" && !strings.HasPrefix(f, "/")
	}
	if end {
		l.Unhonoured, l.Warnings = slices.Clone(s.unhonoured), slices.Clone(s.origin.warnings)
	}
}

// SendsOf gives the variables of environ (NAME=value) that patterns let through
// to a session, sorted.
func SendsOf(patterns, environ []string) []string {
	var out []string
	for _, v := range sentEnv(&settings{sendEnv: patterns}, environ) {
		out = append(out, v.Name+"="+v.Value)
	}
	slices.Sort(out)
	return out
}

// retireOutdated keeps new work off the links of k that would not be made now.
func (p *Pool) retireOutdated(k routeKey, s *settings) {
	p.mu.Lock()
	r := p.routes[k]
	p.mu.Unlock()
	if r == nil {
		return
	}
	for _, ln := range r.allLinks() {
		if !ln.s.same(s) || !ln.stillKnown() || ln.via.wasRetired() {
			r.retire(ln)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.dial; d != nil {
		d.want = s
		r.detach(d)
	}
}

// readFor notes that d goes by the settings s.
func (r *route) readFor(d *dialing, s *settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.s = s
	r.detach(d)
}

// detach has nobody wait any more for a dial that is to another place than
// ssh_config says by now. It ends when all who wait have left it. r.mu is held.
func (r *route) detach(d *dialing) {
	if d.s == nil || d.want == nil || d.s.same(d.want) {
		return
	}
	d.outdated = true
	if r.dial == d {
		r.dial = nil
		r.broadcast()
	}
}

func (l *link) wasRetired() bool {
	if l == nil {
		return false
	}
	l.route.mu.Lock()
	defer l.route.mu.Unlock()
	return l.retired
}

// same is whether a connection by o would be made as one by s.
func (s *settings) same(o *settings) bool {
	a, b := *s, *o
	a.origin, b.origin = nil, nil
	a.unhonoured, b.unhonoured = nil, nil
	return reflect.DeepEqual(a, b)
}

// retire gives no new work to ln, and closes it when what runs on it is over.
func (r *route) retire(ln *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retireLocked(ln)
}

func (r *route) retireLocked(ln *link) {
	if ln.retired || !slices.Contains(r.links, ln) {
		return
	}
	// Suspect for good: that is what all who give links out pass over.
	ln.retired, ln.suspect = true, true
	r.broadcast()
	r.pool.own(func() { // ends with the link
		for {
			r.mu.Lock()
			idle, changed := ln.used == 0 && ln.forwards == 0, r.changed
			r.mu.Unlock()
			if idle {
				_ = ln.client.Close()
				return
			}
			select {
			case <-changed:
			case <-ln.dead:
				return
			}
		}
	})
}

// stampFiles notes how the files are that decide about host keys.
func (h *hostKeys) stampFiles() {
	for _, f := range append(slices.Concat(h.s.userKnown, h.s.globalKnown), h.s.revoked) {
		if f != "" && f != os.DevNull {
			h.stamps = append(h.stamps, stampOf(f))
		}
	}
}

// toJudge is h for looking at its key again, with the files as stamps say.
func (h *hostKeys) toJudge(stamps []stamp) *hostKeys {
	return &hostKeys{ctx: context.Background(), pool: &Pool{}, e: h.e, s: h.s, names: h.names, shown: h.shown, stamps: stamps, judging: true}
}

// stillKnown is whether the host would pass without a word now: no file has
// changed, or those that have still vouch for the key and none revokes it. A
// key that was removed meanwhile is so no longer used, as one that was revoked.
func (l *link) stillKnown() bool {
	was := l.host.Load()
	now := stampsOf(was.stamps)
	if slices.Equal(now, was.stamps) {
		return true
	}
	h := was.toJudge(now)
	var err *Error
	if h.revoked, err = readRevoked(h.e, h.s.revoked); err != nil {
		return false
	}
	h.read()
	if h.verdict(h.shown) != nil {
		return false
	}
	h.entries = nil
	l.host.Store(h)
	return true
}

// Connected is whether the pool has a connection to e that takes work.
func (p *Pool) Connected(e Endpoint) bool {
	p.mu.Lock()
	r := p.routes[routeKey{Endpoint: e}]
	p.mu.Unlock()
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usable() > 0
}

// Verify asks every connection whether it lives, and gives it no work until it
// has answered: after a sleep of this machine the other side may have gone. judged
// is closed when each has answered or was given up.
func (p *Pool) Verify() (judged <-chan struct{}) {
	done := make(chan struct{})
	_, leave, err := p.enter(context.Background(), Endpoint{})
	if err != nil {
		close(done)
		return done
	}
	defer leave()
	var asked sync.WaitGroup
	for _, r := range p.allRoutes() {
		for _, ln := range r.allLinks() {
			if r.suspect(ln, true) {
				asked.Add(1)
				p.own(func() {
					defer asked.Done()
					ln.prove(p.ctx)
				})
			}
		}
	}
	p.own(func() { // ends with those
		asked.Wait()
		close(done)
	})
	return done
}

func (p *Pool) allRoutes() []*route {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.routes))
}

func (r *route) allLinks() []*link {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.links)
}

// Connection is an SSH connection of a pool.
type Connection struct {
	Destination string    `json:"destination"` // neutralised
	Since       time.Time `json:"since"`
	Calls       int       `json:"running"` // that run on it now
}

// Connections tells which connections the pool has, hops included, by name.
func (p *Pool) Connections() []Connection {
	var out []Connection
	for _, r := range p.allRoutes() {
		r.mu.Lock()
		for _, ln := range r.links {
			out = append(out, Connection{Destination: r.key.String(), Since: ln.since, Calls: ln.used})
		}
		r.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Connection) int { return strings.Compare(a.Destination, b.Destination) })
	return out
}
