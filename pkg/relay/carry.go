package relay

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// asIf are the kinds of failure that a person's answer may cure.
var asIf = []transport.Kind{transport.KindHostKeyUnknown, transport.KindAuth, transport.KindProxy}

// errAsked is why a call that would have to wait for somebody else's answer is not
// carried.
const errAsked = "another terminal is being asked"

// carry runs one script. refused is why the caller has to do it itself; nothing was
// run then.
func (s *Server) carry(ctx context.Context, c *caller, sc transport.Script, who *transport.Person) (res transport.Result, n notices, refused string, err error) {
	r := c.request
	// A connection that was made without asking serves all. One that a person had to
	// answer for serves those who can be asked alone, as it would without a server.
	for _, attended := range []bool{false, true} {
		if attended && !r.Attended {
			break
		}
		h, look, why, lerr := s.look(ctx, r, attended)
		if why != "" || lerr != nil {
			return res, n, why, lerr
		}
		if h == nil {
			continue
		}
		n = notices{Unhonoured: look.Unhonoured, Warnings: look.Warnings}
		mine := *who
		if !r.Repeatable {
			mine.Begin = c.waits
		}
		if !attended {
			mine.Ask = nil
		} else if !s.pools.wait(h, c) {
			s.pools.give(h)
			return res, n, errAsked, nil
		} else {
			mine.Ask = func(ctx context.Context, q transport.Question) (string, error) {
				defer s.pools.ask(h, c)()
				return who.Ask(ctx, q)
			}
		}
		res, err = h.Conn(r.Endpoint).Run(transport.WithPerson(ctx, &mine), sc)
		s.pools.unwait(h, c)
		s.pools.give(h)
		te, _ := errors.AsType[*transport.Error](err)
		switch {
		case te == nil:
		case !te.Started && errors.Is(err, transport.ErrAside):
			refused = errAsked
		case !te.Started && errors.Is(err, transport.ErrPoolClosed):
			refused = "it is ending"
		case !te.Started && errors.Is(err, errStale):
			refused = errStale.Error()
		case !te.Started && scarce(err):
			refused = "it could not do on this machine what the caller may: " + err.Error()
		case !te.Started && r.Attended && te.Kind == transport.KindProxy && look.Command:
			// A command may ask on the terminal, which it has there alone.
			refused = "a ProxyCommand failed, and may want to ask on the terminal"
		case !attended && r.Attended && !te.Started && contains(asIf, te.Kind):
			continue
		}
		break
	}
	return res, n, refused, err
}

// scarce is whether err tells of this process, or of this machine: the caller may
// have what the server has not.
func scarce(err error) bool {
	for _, no := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EAGAIN, syscall.EPERM, syscall.EACCES} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

func contains(kinds []transport.Kind, k transport.Kind) bool {
	for _, o := range kinds {
		if o == k {
			return true
		}
	}
	return false
}

// look finds the pool for a call, whose connection, if it has one, was made as the
// caller's own would be now. nil means that an attended caller should not connect
// there. Whoever gets a pool gives it back.
func (s *Server) look(ctx context.Context, r *request, attended bool) (*held, transport.Look, string, error) {
	for range 4 {
		n := s.pools.needsOf(r.Endpoint)
		env, dir, key := n.of(r)
		if attended {
			key += " attended"
		}
		// Who can be asked connects in a pool of that kind alone.
		make := attended == r.Attended
		var whole *transport.Endpoint
		if n.whole {
			whole = &r.Endpoint
		}
		h := s.pools.take(key, env, dir, make, whole)
		if h == nil && !make {
			return nil, transport.Look{}, "", nil
		}
		if h == nil {
			return nil, transport.Look{}, "it has no room for one more kind of caller", nil
		}
		look, err := h.Look(ctx, r.Endpoint)
		seen := needs{whole: look.Whole, login: look.Whole && look.Login, patterns: strings.Join(look.Patterns, " ")}
		switch {
		case err != nil && ctx.Err() != nil:
			s.pools.give(h)
			return nil, look, "", err
		case err != nil && n.whole:
			s.pools.give(h)
			return nil, look, "ssh_config can't be read there: " + err.Error(), nil
		case err != nil: // it may name a variable that is not among what was looked with
			s.pools.give(h)
			s.pools.learn(r.Endpoint, needs{whole: true})
			continue
		case look.Relative:
			s.pools.give(h)
			return nil, look, "ssh_config names a file without its folder", nil
		case seen != n:
			s.pools.give(h)
			s.pools.learn(r.Endpoint, seen)
			continue
		case !make && !h.Connected(r.Endpoint):
			s.pools.give(h)
			return nil, look, "", nil
		}
		return h, look, "", nil
	}
	return nil, transport.Look{}, "what decides how the host is reached does not stay the same", nil
}
