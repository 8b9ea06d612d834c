package transport

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// testNames are the names that the tests' own DNS knows: a machine need not have
// one with addresses of both families, nor a network to ask.
var testNames = map[string][]string{
	"both.test.": {"127.0.0.1", "::1"},
	"four.test.": {"127.0.0.1"},
}

// useTestNames makes this process ask testNames alone, beside /etc/hosts.
func useTestNames() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return &nameServer{}, nil
	}}
}

// nameServer is a connection to a name server that answers at once: DNS over
// TCP, where two bytes of length go before each message.
type nameServer struct {
	mu     sync.Mutex
	asked  []byte
	answer []byte
}

func (n *nameServer) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, b...)
	if len(n.asked) > 2 && len(n.asked) >= 2+int(n.asked[0])<<8+int(n.asked[1]) {
		reply := answerDNS(n.asked[2:])
		n.answer = append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)
		n.asked = nil
	}
	return len(b), nil
}

func (n *nameServer) Read(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := copy(b, n.answer)
	n.answer = n.answer[k:]
	return k, nil
}

func (n *nameServer) Close() error                     { return nil }
func (n *nameServer) LocalAddr() net.Addr              { return commandAddr{} }
func (n *nameServer) RemoteAddr() net.Addr             { return commandAddr{} }
func (n *nameServer) SetDeadline(time.Time) error      { return nil }
func (n *nameServer) SetReadDeadline(time.Time) error  { return nil }
func (n *nameServer) SetWriteDeadline(time.Time) error { return nil }

// answerDNS answers a query of one question: a header of 12 bytes, the name in
// pieces that have their length before them, type and class.
func answerDNS(q []byte) []byte {
	var name strings.Builder
	end := 12
	for end < len(q) && q[end] != 0 {
		name.Write(q[end+1 : end+1+int(q[end])])
		name.WriteByte('.')
		end += 1 + int(q[end])
	}
	end++ // the name's last, empty piece
	wanted := q[end+1]
	addresses, known := testNames[strings.ToLower(name.String())]
	reply := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end+4]...)
	if !known {
		reply[3] |= 3 // no such name
	}
	for _, text := range addresses {
		ip := netip.MustParseAddr(text)
		kind := byte(1)
		if ip.Is6() {
			kind = 28
		}
		if kind == wanted {
			reply[7]++
			reply = append(reply, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, byte(len(ip.AsSlice())))
			reply = append(reply, ip.AsSlice()...)
		}
	}
	return reply
}
