package transport

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCircles has a circle of jump hosts found before anything is dialled: none
// of these hosts exists.
func TestCircles(t *testing.T) {
	for _, tc := range []struct{ name, text, says string }{
		{"itself", "Host box\n ProxyJump box\n", ""},
		{"itself by another name", "Host box\n HostName b.invalid\n ProxyJump box\n", "box -> box"},
		{"two", "Host box\n ProxyJump a\nHost a\n ProxyJump box\n", "box -> a -> box"},
		{"three", "Host box\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump a\n", "box -> a -> b -> a"},
		{"through a chain", "Host box\n ProxyJump a,b\nHost a\n ProxyJump box\n", "box -> b -> a -> box"},
		{"all by a bastion, itself too", "Host *\n ProxyJump bastion\n HostName %h.invalid\n", "box -> bastion -> bastion"},
		{"all by a bastion, itself too, without a HostName", "Host *\n ProxyJump bastion\n", ""},
		{"too many", "Host box\n ProxyJump ha\nHost h?\n HostName %h.invalid\n" + hops(12), "more than 8 hops"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, bin := range []string{"", NoSSHBinary} {
				e := Endpoint{Destination: "box", ConfigFile: configOf(t, tc.text)}
				p := newPool(t, Options{SSHBinary: bin})
				err := refusal(t, p, e, KindProxy)
				if !strings.Contains(err.Error(), tc.says) || err.Hint == "" {
					t.Errorf("with %q: %v; hint %q", bin, &err, err.Hint)
				}
			}
		})
	}
}

// hops is a chain ha, hb, ... of n hosts.
func hops(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Host h%c\n ProxyJump h%c\n", 'a'+i, 'b'+i)
	}
	return b.String()
}

func configOf(t *testing.T, text string) string {
	t.Helper()
	file := t.TempDir() + "/config"
	write(t, file, text)
	return file
}

// TestCircleOfCallers has both ends of a circle dialled at once, so that each
// dial would wait for the other.
func TestCircleOfCallers(t *testing.T) {
	config := configOf(t, "Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
	p := newPool(t, Options{})
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			e := Endpoint{Destination: []string{"a", "b"}[i%2], ConfigFile: config}
			_, err := p.Conn(e).Run(within(t, 20*time.Second), Script{Text: ":"})
			if k, _ := KindOf(err); k != KindProxy {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
}

// TestNoCircle has chains that look like circles and are none: a hop of a chain
// is reached through the hop before it, whatever its own ProxyJump says.
func TestNoCircle(t *testing.T) {
	box, hop := startServer(t), startServer(t)
	for _, bin := range []string{"", NoSSHBinary} {
		e := Endpoint{Destination: "box", ConfigFile: box.configFile(
			box.block("box", "ProxyJump first,second"),
			hop.block("first", "ProxyJump none"),
			hop.block("second", "ProxyJump second"),
		)}
		succeed(t, newPool(t, Options{SSHBinary: bin}), e)
	}
}
