package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// maxCallers bounds how many calls are taken in at a time. Each may hold a
	// script and a result.
	maxCallers = 256
	// maxConns bounds how many connections are open at a time, silent ones too.
	maxConns = 1024
	// tick is how often a server looks whether it is still wanted.
	tick = 10 * time.Second
	// endGrace is what callers have to take the ends of their calls.
	endGrace = time.Second
	// sleepGap is how much further the clock on the wall has to have gone than the
	// machine has run for it to have slept.
	sleepGap = 30 * time.Second
)

// DefaultIdle is how long a server stays without a call, unless told otherwise.
const DefaultIdle = 30 * time.Minute

// Options tune a Server. The zero value is right for most.
type Options struct {
	// Version is what the program calls itself; empty is what it was built with.
	Version string
	// Idle is after how long without a call the server ends; 0 is never.
	Idle time.Duration
	// Say is told what happens, a line each time; nil drops it.
	Say func(text string)
}

// Server holds connections and runs the scripts of callers over them. Listen makes
// one, and Serve is its life.
type Server struct {
	opts  Options
	l     *listener
	hello hello
	file  os.FileInfo // the executable, as it was
	since time.Time
	pools pools
	kept  store

	open   context.Context // ends when calls are to be broken off
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // the connections

	mu       sync.Mutex
	conns    int // open connections
	callers  int // those of them that have brought a call
	running  int // calls under way
	calls    int // calls that were carried
	last     time.Time
	draining chan struct{}   // closed by drain
	why      string          // why it ends
	stoppers []*net.UnixConn // who has told it to, and waits
	now      func() (wall, ran time.Time)

	waking sync.Mutex
	looked time.Time         // when a sleep was last looked for; with judged, waking's
	judged []<-chan struct{} // closed when the connections have proved themselves
}

// Listen takes the first of the sockets, unless a server holds any of them: then
// the error is ErrRunning. It serves nobody before Serve is called.
func Listen(o Options, sockets ...string) (*Server, error) {
	if len(sockets) == 0 {
		return nil, errors.New("there is no folder for the socket: set XDG_RUNTIME_DIR to one of your own")
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	s := &Server{opts: o, since: time.Now(), last: time.Now(), draining: make(chan struct{}), now: func() (time.Time, time.Time) { t := time.Now(); return t.Round(0), t }}
	_, s.looked = s.now()
	version := ownVersion(o.Version)
	b, err := build(version)
	if err != nil {
		return nil, err
	}
	s.hello = hello{Build: b, Version: version, Place: here()}
	if s.file, err = os.Stat(executable()); err != nil {
		return nil, err
	}
	for _, path := range sockets[1:] {
		if c, err := dial(context.Background(), path, greetDeadline); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("%w: it listens at %s", ErrRunning, path)
		}
	}
	if s.l, err = listen(sockets[0]); err != nil {
		return nil, err
	}
	s.open, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// Socket is where it listens.
func (s *Server) Socket() string { return s.l.path }

// Serve serves callers until ctx ends, which breaks off what runs as transport's
// Pool.Close does, or until it is not wanted any more: when nobody has called for
// Options.Idle, when it was told to stop, or when its executable is another one.
// Then the calls under way are let through to their end. The socket is gone when it
// returns, and nothing of the server runs any more. why is the reason; Serve is
// called once.
func (s *Server) Serve(ctx context.Context) (why string) {
	every := tick
	if s.opts.Idle > 0 {
		every = max(min(tick, s.opts.Idle/4), 10*time.Millisecond)
	}
	t := time.NewTicker(every)
	defer t.Stop()
	return s.serveEvery(ctx, t.C)
}

// serveEvery is Serve, looking at each tick whether the server is still wanted.
func (s *Server) serveEvery(ctx context.Context, ticks <-chan time.Time) (why string) {
	stop := context.AfterFunc(ctx, func() { s.drain("it was told to end") })
	defer stop()
	var watch sync.WaitGroup
	watch.Go(func() { s.watch(ticks) })
	s.accept()
	watch.Wait()
	over := make(chan struct{})
	go func() { // ends with the connections, which s.cancel sees to
		s.tasks.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	s.pools.close()
	// The calls have ended by now, and their callers are told.
	t := time.NewTimer(endGrace)
	defer t.Stop()
	select {
	case <-over:
	case <-t.C:
	}
	s.cancel(errEnding)
	<-over
	_ = s.l.lock.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.stoppers { // who waits for the end may begin anew now
		_ = c.Close()
	}
	return s.why
}

// errEnding is why a call of a server that ends is over.
var errEnding = errors.New("the server is ending")

// drain takes no more calls.
func (s *Server) drain(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != "" {
		return
	}
	s.why = why
	close(s.draining)
	s.l.remove()
}

// accept takes callers in until the socket is closed.
func (s *Server) accept() {
	for {
		c, err := s.l.AcceptUnix()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Too many open files, say: it passes, and must not turn into a loop.
			t := time.NewTimer(100 * time.Millisecond)
			select {
			case <-t.C:
			case <-s.draining:
			}
			t.Stop()
			continue
		}
		s.mu.Lock()
		room := s.conns < maxConns && s.why == ""
		if room {
			s.conns++
		}
		s.mu.Unlock()
		if !room {
			_ = c.Close() // before any greeting: nothing was handed over
			continue
		}
		s.tasks.Go(func() {
			s.serve(c)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conns--
		})
	}
}

// watch looks whether the server is still wanted, until it is not.
func (s *Server) watch(ticks <-chan time.Time) {
	for {
		select {
		case <-s.draining:
			return
		case now := <-ticks:
			s.mu.Lock()
			idle := s.opts.Idle > 0 && s.running == 0 && now.Sub(s.last) >= s.opts.Idle
			s.mu.Unlock()
			switch {
			case idle:
				s.drain(fmt.Sprintf("nobody has called for %v", s.opts.Idle))
			case s.replaced():
				s.drain("its program was replaced")
			case !s.l.standing():
				s.drain("its socket was taken away")
			case !s.l.locked(): // another may begin, and take the socket
				s.drain("its lock was taken away")
			}
			s.pools.sweep(now)
			s.kept.sweep(now)
		}
	}
}

// replaced is whether the executable is not the one that runs here.
func (s *Server) replaced() bool {
	st, err := os.Stat(executable())
	return err != nil || !os.SameFile(st, s.file) || st.Size() != s.file.Size() || !st.ModTime().Equal(s.file.ModTime())
}

// wake has every connection prove itself before it is given out again, if this
// machine has slept since it was last looked. It returns when they have, at the
// latest when ctx ends: none is then passed over that lives.
func (s *Server) wake(ctx context.Context) {
	for _, judged := range s.afterSleep() {
		select {
		case <-judged:
		case <-ctx.Done():
		}
	}
}

// afterSleep marks the connections after a sleep, before it lets another caller by.
func (s *Server) afterSleep() []<-chan struct{} {
	s.waking.Lock()
	defer s.waking.Unlock()
	s.mu.Lock()
	wall, ran := s.now()
	s.mu.Unlock()
	slept := wall.Sub(s.looked.Round(0)) - ran.Sub(s.looked)
	s.looked = ran
	if slept > sleepGap {
		s.opts.Say(fmt.Sprintf("this machine has slept for %v: every connection is asked whether it lives", slept.Round(time.Second)))
		// One that still answers for the sleep before is not asked again, and waited for too.
		s.judged = slices.DeleteFunc(s.judged, isClosed)
		for _, h := range s.pools.all() {
			s.judged = append(s.judged, h.Verify()) // five seconds at most
		}
	}
	return s.judged
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// admit gives a caller a place, which leave gives back; false is that none is free.
func (s *Server) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.callers >= maxCallers {
		return false
	}
	s.callers++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers--
}

// begin counts a call; false means that none are taken any more.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != "" {
		return false
	}
	s.running++
	return true
}

// end counts its end.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.last = time.Now()
}

// count counts a call that was carried.
func (s *Server) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
}

// info is what the server tells about itself.
func (s *Server) info() Info {
	idle := s.opts.Idle.Seconds()
	s.mu.Lock()
	i := Info{
		Version: s.hello.Version, PID: os.Getpid(), Socket: s.l.path, Since: s.since.Round(0),
		Callers: s.running, Calls: s.calls, Idle: &idle, Ending: s.why != "",
	}
	s.mu.Unlock()
	i.Kept = s.kept.count()
	i.Connections = []transport.Connection{}
	for _, h := range s.pools.all() {
		i.Environments++
		i.Connections = append(i.Connections, h.Connections()...)
	}
	slices.SortStableFunc(i.Connections, func(a, b transport.Connection) int { return strings.Compare(a.Destination, b.Destination) })
	return i
}
