package transport

import (
	"strings"
	"testing"
	"time"
)

// TestPrelude runs scripts that go by functions: a shell that stays is given these
// once, and again where another prelude came between; one of their own has them too.
func TestPrelude(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.knowAlias()
	e, network := proxied(t, s)
	long := "#" + strings.Repeat(" long", 10000) + "\n"
	one, two := long+"f() { echo one \"$1\"; }", long+"f() { echo two \"$1\"; }"
	for name, at := range map[string]struct {
		e    Endpoint
		sent bool // what is sent shows
	}{"remote": {e, true}, "local": {Endpoint{Local: true}, false}} {
		t.Run(name, func(t *testing.T) {
			conn := polled(t, Options{}, at.e).Conn(at.e)
			for i, tc := range []struct {
				s    Script
				out  string
				anew bool
			}{
				{Script{Prelude: one, Text: "f a", Repeatable: true}, "one a\n", true},
				{Script{Prelude: one, Text: "f b", Repeatable: true}, "one b\n", false},
				{Script{Text: "f c", Repeatable: true}, "one c\n", false},
				{Script{Prelude: two, Text: "f d", Repeatable: true}, "two d\n", true},
				{Script{Prelude: two, Text: "f() { echo mine; }; f", Repeatable: true}, "mine\n", false},
				{Script{Prelude: two, Text: "f e", Repeatable: true}, "two e\n", false},
				{Script{Prelude: one, Text: "f g", Repeatable: true, Alone: true}, "one g\n", true},
				{Script{Prelude: one, Text: "f h"}, "one h\n", true},
				{Script{Prelude: one, Text: "f i", Repeatable: true}, "one i\n", true},
			} {
				before := network.Traffic().Up
				res, err := conn.Run(within(t, time.Minute), tc.s)
				if err != nil || string(res.Stdout) != tc.out || len(res.Stderr) != 0 {
					t.Errorf("%d: %q, %q, %v; want %q", i, res.Stdout, res.Stderr, err, tc.out)
				}
				if sent := network.Traffic().Up - before; at.sent && (sent > int64(len(long))) != tc.anew {
					t.Errorf("%d: %d bytes", i, sent)
				}
			}
		})
	}
}
