package transport

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// readingLasts is how long a reading of ssh_config is taken for true, if
	// its files stay as they are: what else it may hang on, such as the network
	// of a Match localnetwork, changes unseen.
	readingLasts = time.Minute
	// maxReadings bounds what is kept.
	maxReadings = 4096
)

// configKey is all that a reading of ssh_config hangs on, but the files.
type configKey struct {
	env    *environment
	binary string // empty: read the files ourselves
	file   string // ssh -F
	target target
	jump   string // the ProxyJump that is given, whatever the files say
	// plainly has our own reader give up where it would not be taken for ssh: see
	// config_alike.go.
	plainly bool
}

// configCache reads ssh_config, keeps what it read, and lets callers that want
// the same at once share one reading. Its zero value is ready.
type configCache struct {
	mu      sync.Mutex
	kept    map[configKey]keptReading
	flights map[configKey]*configFlight
	places  chan struct{} // one token for each reading under way
	// alike are the shapes of which both readers made the same, and unlike the ssh
	// binaries that once made something else.
	alike  map[shapeKey]bool
	unlike map[string]bool
}

type keptReading struct {
	reading *reading
	until   time.Time
	stamps  []stamp
}

// configFlight is a reading under way. It goes on as long as one caller waits.
type configFlight struct {
	cancel  context.CancelFunc
	waiters int
	done    chan struct{}
	reading *reading // valid after done
	err     error
}

// read gives what ssh_config says for k. It ends with ctx; the caller must be a
// call on the pool or one of its goroutines.
func (c *configCache) read(ctx context.Context, p *Pool, k configKey) (*reading, error) {
	c.mu.Lock()
	kept, ok := c.kept[k]
	c.mu.Unlock()
	// Looking at the files needs no lock, and may be slow on a network disk.
	if ok && time.Now().Before(kept.until) && slices.Equal(kept.stamps, stampsOf(kept.stamps)) {
		return kept.reading, nil
	}
	c.mu.Lock()
	f := c.flights[k]
	if f == nil {
		f = c.start(p, k)
	}
	f.waiters++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.waiters--; f.waiters == 0 {
			f.cancel()
			c.forget(k, f)
		}
	}()
	select {
	case <-f.done:
		return f.reading, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// forget lets the next caller begin anew. c.mu is held.
func (c *configCache) forget(k configKey, f *configFlight) {
	if c.flights[k] == f {
		delete(c.flights, k)
	}
}

// start begins a reading. c.mu is held.
func (c *configCache) start(p *Pool, k configKey) *configFlight {
	if c.places == nil {
		c.kept, c.flights = map[configKey]keptReading{}, map[configKey]*configFlight{}
		c.alike, c.unlike = map[shapeKey]bool{}, map[string]bool{}
		c.places = make(chan struct{}, max(4, 2*runtime.GOMAXPROCS(0)))
	}
	ctx, cancel := context.WithCancel(p.ctx)
	f := &configFlight{cancel: cancel, done: make(chan struct{})}
	c.flights[k] = f
	p.own(func() {
		defer cancel()
		r, stamps, err := c.readNow(ctx, k)
		c.mu.Lock()
		defer c.mu.Unlock()
		f.reading, f.err = r, err
		c.forget(k, f)
		delete(c.kept, k)
		if err == nil && stamps != nil {
			if len(c.kept) >= maxReadings {
				clear(c.kept)
			}
			c.kept[k] = keptReading{reading: r, until: time.Now().Add(readingLasts), stamps: stamps}
		}
		close(f.done)
	})
	return f
}

// readNow waits for a place and reads. No stamps mean that the reading is not
// to be kept.
func (c *configCache) readNow(ctx context.Context, k configKey) (*reading, []stamp, error) {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, resolveDeadline, errors.New("ssh_config took longer than 15 s to read: see what its Match exec runs"))
	defer cancel()
	begin := time.Now()
	var r *reading
	var err error
	if k.binary != "" {
		r, err = c.readAlike(ctx, k)
	} else {
		r, err = resolveByFile(ctx, usualSources(k.file), k)
	}
	if err == nil {
		for _, f := range r.files {
			variables, login := names(f)
			r.variables, r.login = r.variables || variables, r.login || login
		}
	}
	if err != nil || r.ran {
		return r, nil, err
	}
	stamps := r.stamps(usualSources(k.file))
	for _, s := range stamps {
		// A file that was written since may have been read before or after. One
		// that was named and is not there was not named in full.
		if s.time.After(begin.Add(-stampGrain)) || !s.exists && slices.Contains(r.files, s.name) {
			return r, nil, nil
		}
	}
	return r, stamps, nil
}

// names is whether a line of an ssh_config, comments apart, holds a $, and whether
// one names a variable of loginVars.
func names(file string) (variables, login bool) {
	text, err := os.ReadFile(file)
	variables, login = err != nil, err != nil
	for line := range bytes.Lines(text) {
		if line = bytes.TrimLeft(line, blanks); bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		variables = variables || bytes.Contains(line, []byte("$"))
		login = login || slices.ContainsFunc(loginVars, func(name string) bool { return bytes.Contains(line, []byte(name)) })
	}
	return variables, login
}

// stampGrain is how far apart two writes must be for any file system to give
// them different times.
const stampGrain = 20 * time.Millisecond

// stamp is what shows that a file is still the one that was read.
type stamp struct {
	name   string
	exists bool
	size   int64
	time   time.Time
}

func stampOf(name string) stamp {
	st, err := os.Stat(name)
	if err != nil {
		return stamp{name: name}
	}
	return stamp{name: name, exists: true, size: st.Size(), time: st.ModTime()}
}

func stampsOf(old []stamp) []stamp {
	out := make([]stamp, len(old))
	for i, s := range old {
		out[i] = stampOf(s.name)
	}
	return out
}

// stamps looks at the files of a reading: those that were read, those that would
// have been, and the folders of those that were included, which more may join.
func (r *reading) stamps(sources []configSource) []stamp {
	var names []string
	for _, s := range sources {
		names = append(names, s.path)
	}
	for _, f := range r.files {
		if !slices.Contains(names, f) {
			names = append(names, f, filepath.Dir(f))
		}
	}
	names = append(names, r.folders...)
	out := make([]stamp, len(names))
	for i, n := range names {
		out[i] = stampOf(n)
	}
	return out
}
