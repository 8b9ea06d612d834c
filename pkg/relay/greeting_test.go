package relay

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// idle is a server that takes no callers by itself.
func idle(t *testing.T, version string) *Server {
	t.Helper()
	s, err := Listen(Options{Version: version}, socket(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.drain("")
		s.pools.close()
		s.cancel(errEnding)
		_ = s.l.lock.Close()
	})
	return s
}

// pair is both ends of a connection.
func pair(t *testing.T) (client, server *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Dir(socket(t)), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err == nil {
		server, err = l.AcceptUnix()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []*net.UnixConn{c, server} {
		_ = end.SetDeadline(time.Now().Add(30 * time.Second))
		t.Cleanup(func() { _ = end.Close() })
	}
	return c, server
}

// spoken gives what s answers to a greeting and what follows it, with the body true.
func spoken(t *testing.T, s *Server, mine hello, k kind, header any) []frame {
	t.Helper()
	c, theirs := pair(t)
	done := make(chan struct{})
	go func() { defer close(done); s.serve(theirs) }()
	if err := writeFrame(c, kindHello, mine); err != nil {
		t.Fatal(err)
	}
	if k == 0 {
		_ = c.CloseWrite()
	} else if err := writeFrame(c, k, header, []byte("true")); err != nil {
		t.Fatal(err)
	}
	var out []frame
	for {
		f, err := readFrame(c, maxBody)
		if err != nil {
			if !errors.Is(err, io.EOF) && len(out) == 0 {
				t.Errorf("%v", err)
			}
			break
		}
		out = append(out, f)
		if f.kind == kindInfo {
			break // a server that was told to stop keeps the connection
		}
	}
	_ = c.Close()
	<-done
	return out[min(1, len(out)):] // less the greeting
}

// TestUnfitCaller ends a server for a caller that would use a later one, and for
// nobody else.
func TestUnfitCaller(t *testing.T) {
	place := here()
	elsewhere := place
	elsewhere.Home = "/elsewhere"
	run, ask := request{Endpoint: transport.Endpoint{Destination: "nowhere"}}, struct{}{}
	for _, c := range []struct {
		name     string
		hello    hello
		k        kind
		header   any
		replaced bool
		ends     bool
		answers  int
	}{
		{"a newer one calls", hello{"v1.3.0", "v1.3.0", place}, kindRun, run, false, true, 0},
		{"a newer one has seen the greeting", hello{"v1.3.0", "v1.3.0", place}, 0, nil, false, true, 0},
		{"a newer one asks", hello{"v1.3.0", "v1.3.0", place}, kindAsk, ask, false, false, 1},
		{"a newer one in another place", hello{"v1.3.0", "v1.3.0", elsewhere}, kindRun, run, false, false, 0},
		{"an older one calls", hello{"v1.1.0", "v1.1.0", place}, kindRun, run, false, false, 0},
		{"another build calls", hello{"v1.2.0 1 2", "v1.2.0", place}, kindRun, run, false, false, 0},
		{"another build calls where the program was replaced", hello{"v1.2.0 1 2", "v1.2.0", place}, kindRun, run, true, true, 0},
		{"another build asks where the program was replaced", hello{"v1.2.0 1 2", "v1.2.0", place}, kindAsk, ask, true, false, 1},
		{"another build in another place, where the program was replaced", hello{"v1.2.0 1 2", "v1.2.0", elsewhere}, kindRun, run, true, false, 0},
	} {
		s := idle(t, "v1.2.0")
		if c.replaced {
			var err error
			if s.file, err = os.Stat("/bin/sh"); err != nil {
				t.Fatal(err)
			}
		}
		got := spoken(t, s, c.hello, c.k, c.header)
		if len(got) != c.answers || s.info().Ending != c.ends {
			t.Errorf("%s: %q, %+v", c.name, got, s.info())
		}
	}
}

// TestUnfitRequest runs nothing of what can't be meant, and goes on.
func TestUnfitRequest(t *testing.T) {
	s := idle(t, "v1.2.0")
	nowhere := transport.Endpoint{Destination: "nowhere", ConfigFile: os.DevNull}
	for _, r := range []request{
		{Endpoint: nowhere, Prelude: -1},
		{Endpoint: nowhere, Prelude: 5},
		{Endpoint: transport.Endpoint{Local: true}},
	} {
		if got := spoken(t, s, s.hello, kindRun, r); len(got) != 0 {
			t.Errorf("%+v: %q", r, got)
		}
	}
	ending := idle(t, "v1.2.0")
	ending.drain("it was told to stop")
	if got := spoken(t, ending, ending.hello, kindRun, request{Endpoint: nowhere}); len(got) != 1 || got[0].kind != kindNotCarried {
		t.Errorf("by one that ends: %q", got)
	}
	// The negative: the host is not there, and that comes back.
	if got := spoken(t, s, s.hello, kindRun, request{Endpoint: nowhere, Prelude: 4}); len(got) != 1 || got[0].kind != kindFailed {
		t.Errorf("%q", got)
	}
}

// TestScriptWhole hands on all that a script says.
func TestScriptWhole(t *testing.T) {
	var in transport.Script
	v := reflect.ValueOf(&in).Elem()
	for i := range v.NumField() {
		one := reflect.New(v.Type()).Elem()
		for _, s := range []reflect.Value{v, one} {
			switch f := s.Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString(v.Type().Field(i).Name)
			default:
				t.Fatalf("%s is of a kind that this test does not know", v.Type().Field(i).Name)
			}
		}
		for _, s := range []transport.Script{in, one.Interface().(transport.Script)} {
			var r request
			var body []byte
			for _, part := range r.of(s) {
				body = append(body, part...)
			}
			if out, ok := r.script(body); !ok || out != s {
				t.Errorf("%+v has become %+v", s, out)
			}
		}
	}
}
