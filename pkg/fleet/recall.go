package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/relay"
)

// recall is how one look of a single call comes to the memory that the one before it
// had, in another process: a server that holds the connections keeps it between them.
// It is for looks that only tell. What types, or has something ended, looks with what
// it has seen itself.
//
// Nothing in a memory is proof of which machine it is of: what stands behind a name
// may be another by now. So a memory is good for the connection alone that it was
// made over, which the host itself names.
type recall struct {
	held *relay.Recalled
	made string // the connection that what is remembered was seen over; empty when that is nothing
	link string // the one that the newest look went over; empty when it can't be told
}

// glancing is the group for who looks once, and only to tell.
func (g group) glancing() group {
	g.lean, g.glance = true, true
	return g
}

// recall gives a group that looks once, and only to tell, the memory of the one before
// it, where a server keeps that. keep is called when the looks are over, and has the
// server keep what they have found.
func (f *Fleet) recall(ctx context.Context, g group) (_ group, keep func()) {
	nothing := func() {}
	if f.server == nil || !g.glance {
		return g, nothing
	}
	held := f.server.Recall(ctx, g.endpoint, f.key(g))
	if held == nil {
		return g, nothing
	}
	g.recall = &recall{held: held}
	g.memory, g.recall.made = decodeMemory(held.Blob, held.Age, time.Now())
	if g.memory == nil {
		g.memory = newMemory()
	}
	return g, func() {
		if g.recall.link != "" && g.memory.sight != nil {
			held.Keep(g.memory.encode(g.recall.link, time.Now()))
		}
		held.Close()
	}
}

// key names what a look asks, and of whom. The agent, the tickets and whether somebody
// can be asked decide over which connection it goes, so that those who have different
// ones don't take what they left from each other. What else decides so, such as all of
// an environment, shows in the connection alone.
func (f *Fleet) key(g group) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%#v %t %q %q\n", g.endpoint, f.asks, os.Getenv("SSH_AUTH_SOCK"), os.Getenv("KRB5CCNAME"))
	for _, h := range g.hosts {
		fmt.Fprintf(sum, "%q %q\n", h.Session, h.Workdir)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// fragment prints which connection the script came by, in one line. sshd tells each
// connection by its port; one that it was handed as a pipe it can't tell.
func (r *recall) fragment() string {
	if r == nil {
		return ""
	}
	return `printf '%s\n' "$SSH_CONNECTION"` + "\n"
}

// maxLink bounds the name of a connection: two addresses and two ports.
const maxLink = 256

// parse takes that line off what was printed. same is whether what is remembered was
// seen over this connection too, or nothing is.
func (r *recall) parse(out []byte) (rest []byte, same bool) {
	if r == nil {
		return out, true
	}
	line, rest, _ := bytes.Cut(out, []byte("\n"))
	r.link = string(line)
	if len(strings.Fields(r.link)) != 4 || len(r.link) > maxLink || strings.Contains(r.link, "UNKNOWN") {
		r.link = ""
	}
	same = r.made == "" || r.made == r.link
	r.made = r.link
	return rest, same
}
