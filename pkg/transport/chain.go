package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxHops bounds a chain of ProxyJump hops, each of which may name others.
const maxHops = 8

// errJumpLoop is a machine that would be reached through itself.
var errJumpLoop = errors.New("ProxyJump goes in a circle")

const jumpLoopHint = "give the jump host a block of its own with ProxyJump none, before the block that sets ProxyJump for all"

// lastHop is the hop of a ProxyJump that the connection to e goes through. It is
// reached through the hops before it, if there are any, and else as its own
// configuration says.
func lastHop(e Endpoint, proxyJump string) routeKey {
	hops := strings.Split(proxyJump, ",")
	for i, h := range hops {
		hops[i] = strings.TrimSpace(h)
	}
	last := len(hops) - 1
	return routeKey{
		Endpoint: Endpoint{Destination: hops[last], ConfigFile: e.ConfigFile},
		jump:     strings.Join(hops[:last], ","),
	}
}

// checkChain follows the ProxyJump of k, hop after hop, before any of it is
// dialled: of two dials that go in a circle each would wait for the other.
func (p *Pool) checkChain(ctx context.Context, k routeKey, s *settings) *Error {
	chain := []routeKey{k}
	for at := k; s.proxyJump != "" && s.proxyCommand == ""; {
		at = lastHop(at.Endpoint, s.proxyJump)
		if slices.Contains(chain, at) || len(chain) > maxHops {
			what := errJumpLoop
			if !slices.Contains(chain, at) {
				what = fmt.Errorf("ProxyJump goes through more than %d hops", maxHops)
			}
			return &Error{
				Kind: KindProxy, Endpoint: k.Endpoint, Err: fmt.Errorf("%w: %s", what, showChain(append(chain, at))),
				Hint: jumpLoopHint,
			}
		}
		chain = append(chain, at)
		var err *Error
		if s, err = p.resolve(ctx, at); err != nil {
			if ctx.Err() != nil {
				return contextError(ctx, k.Endpoint, readingConfig+" for the jump host "+at.String(), false)
			}
			return &Error{Kind: KindProxy, Endpoint: k.Endpoint, Err: fmt.Errorf("jump host: %w: %s", err, showChain(chain)), Hint: err.Hint}
		}
	}
	return nil
}

func showChain(chain []routeKey) string {
	var names []string
	for _, k := range chain {
		names = append(names, k.String())
	}
	return strings.Join(names, " -> ")
}
