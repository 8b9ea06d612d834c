package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxBody bounds what is read of one request. A long talk of the real client
// stays well below it.
const maxBody = 64 << 20

// Server is a scripted Messages API on a loopback port. All its methods may be
// called at once from several goroutines.
type Server struct {
	url    string
	http   *http.Server
	served chan struct{}
	quit   context.CancelFunc

	mu       sync.Mutex
	requests []*Request
	last     map[string]seen // by session
	holds    map[string]*hold
	ids      int
	open     int      // turns that are being answered
	tokens   []string // that are taken; any where there are none
}

// hold is what `HOLD name` and `WAIT name` wait at.
type hold struct {
	gate    chan struct{}
	open    bool
	waiting int
}

// Start serves on a free port of 127.0.0.1 until Close.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted API: %w", err)
	}
	ctx, quit := context.WithCancel(context.Background())
	s := &Server{
		url:    "http://" + listener.Addr().String(),
		served: make(chan struct{}),
		quit:   quit,
		last:   map[string]seen{},
		holds:  map[string]*hold{},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		// Every request ends with the server: a held one must not outlive Close.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // always ErrServerClosed: only Close ends it
	}()
	return s, nil
}

// URL is what ANTHROPIC_BASE_URL has to be.
func (s *Server) URL() string { return s.url }

// Close ends every request and waits, for five seconds at most, until their
// goroutines are gone.
func (s *Server) Close() error {
	s.quit()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, s.http.Close())
	}
	<-s.served
	return err
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client left, or sent what no client sends
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		_ = writeJSON(w, http.StatusOK, object{})
		return
	}
	if !s.accepted(r) {
		_ = writeError(w, http.StatusUnauthorized, "OAuth token has expired. Please obtain a new token or refresh your existing token.")
		return
	}
	var req wireRequest
	if err := json.Unmarshal(body, &req); err != nil {
		_ = writeError(w, http.StatusBadRequest, "not a Messages API request: "+err.Error())
		return
	}
	now := turnOf(req.Messages)
	rec := s.record(&req, now, r.Header)
	rep := newReply(w, &req, "msg_"+s.nextID(), len(body)/4)
	defer s.opened(rec.Kind != Side || now.compacting)()
	if rec.Kind == Side {
		if a := parse(now.prompt); now.compacting && a.verb == verbCompact {
			s.holdQuietly(r.Context(), a.text)
		}
		rep.say(sideText(now))
		_ = rep.finish("end_turn")
		return
	}
	s.act(r.Context(), &turnReply{reply: rep, turn: now, rec: rec, tools: req.toolNames()})
}

// opened counts one more open turn, if it is one, until the function that it
// returns is called.
func (s *Server) opened(isTurn bool) (closed func()) {
	count := func(n int) {
		if !isTurn {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open += n
	}
	count(1)
	return func() { count(-1) }
}

// Open counts the requests of turns that are being answered now: held and
// streamed ones, and summaries of a talk. A turn whose tool runs at the client is not among them, nor is
// one that the client waits to try again.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func sideText(now turn) string {
	if now.compacting {
		return "<summary>The talk so far, in short.</summary>"
	}
	return "Test session"
}

// nextID makes ids that differ from each other, also between two servers that
// one client talks to in turn.
func (s *Server) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("rig%d%06d", time.Now().UnixNano(), s.ids)
}
