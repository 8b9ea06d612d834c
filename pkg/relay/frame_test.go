package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	if err := writeFrame(&b, kindDone, outcome{Stdout: 1}, []byte("a"), []byte("b")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("r\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Add([]byte("r\x00\x00\x00\x02\x00\x00\x00\x00{}trailing"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readFrame(iotest.OneByteReader(bytes.NewReader(in)), maxGreeting)
		if err != nil {
			return
		}
		if len(got.header) > maxGreeting || len(got.body) > maxGreeting || 9+len(got.header)+len(got.body) > len(in) {
			t.Fatalf("%d, %d of %d", len(got.header), len(got.body), len(in))
		}
		for _, v := range []any{&hello{}, &request{}, &reply{}, &question{}, &warning{}, &cancel{}, &refusal{}, &outcome{}, &failure{}, &Info{}} {
			_ = got.into(v) // must not panic
		}
	})
}

func TestFrame(t *testing.T) {
	var b bytes.Buffer
	in := request{Endpoint: transport.Endpoint{Destination: "a"}, Env: [][]byte{[]byte("X=\xff")}, Dir: []byte("/\xfe")}
	if err := writeFrame(&b, kindRun, in, []byte("x"), []byte("yz")); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	f, err := readFrame(bytes.NewReader(whole), maxBody)
	var out request
	if err != nil || f.kind != kindRun || string(f.body) != "xyz" || f.into(&out) != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, %+v, %v", f, out, err)
	}
	for n := range len(whole) { // every cut is noticed
		if _, err := readFrame(bytes.NewReader(whole[:n]), maxBody); err == nil || n > 8 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := readFrame(bytes.NewReader(whole), 2); !errors.Is(err, errFrame) {
		t.Errorf("too long: %v", err)
	}
	if err := writeFrame(io.Discard, kindRun, in, make([]byte, maxBody+1)); err == nil {
		t.Error("wrote what is too long")
	}
}

// TestFailure keeps of an error what callers go by.
func TestFailure(t *testing.T) {
	in := &transport.Error{
		Kind: transport.KindConnect, Endpoint: transport.Endpoint{Destination: "a"}, Hint: "do", Started: true,
		Err: fmt.Errorf("out: %w", errors.Join(context.DeadlineExceeded, syscall.ECONNREFUSED)),
	}
	out := failureOf(in).err()
	if out.Kind != in.Kind || out.Endpoint != in.Endpoint || out.Hint != in.Hint || !out.Started || out.Error() != in.Error() {
		t.Errorf("%+v", out)
	}
	for _, c := range causes {
		if errors.Is(out, c) != errors.Is(in, c) {
			t.Errorf("%v: %t", c, errors.Is(out, c))
		}
	}
}

func TestNewer(t *testing.T) {
	order := []string{"v0.9.0", "v1.2.3-0.20260101000000-abcdef", "v1.2.3-rc.1", "v1.2.3", "v1.2.10", "v1.10.0", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if newer(a, b) != (i > j) {
				t.Errorf("newer(%s, %s) is %t", a, b, newer(a, b))
			}
		}
	}
	for _, v := range []string{"", "(devel)", "devel", "v1.2.4+dirty", "v9"} {
		if newer(v, "v1.2.3") || newer("v9.0.0", v) {
			t.Errorf("%q has an order", v)
		}
	}
	for v, whole := range map[string]bool{"v1.2.3": true, "devel": false, "v1.2.3+dirty": false} {
		if b, err := build(v); err != nil || (b == v) != whole {
			t.Errorf("build(%s) is %q, %v", v, b, err)
		}
	}
}

// TestSockets looks in the folders of the account alone.
func TestSockets(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/mine")
	t.Setenv("XDG_STATE_HOME", "/state")
	if got := Sockets(); !reflect.DeepEqual(got, []string{"/run/mine/claude-fleet/serve.sock", "/state/claude-fleet/serve.sock"}) {
		t.Errorf("%q", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", "not/absolute")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/home/me")
	got := Sockets()
	if got[len(got)-1] != "/home/me/.local/state/claude-fleet/serve.sock" {
		t.Errorf("%q", got)
	}
	for _, p := range got {
		if !filepath.IsAbs(p) {
			t.Errorf("%q", p)
		}
	}
}

// TestPeer lets in the own account alone, on both sides. Only root can be another.
func TestPeer(t *testing.T) {
	path := socket(t)
	var told said
	serving(t, Options{Say: told.say}, path)
	c, err := dial(context.Background(), path, greetDeadline)
	if err != nil {
		t.Fatalf("the own account: %v", err)
	}
	_ = c.Close()
	if os.Getuid() != 0 {
		return
	}
	// Neither the folders nor the modes keep the other account away here.
	open := filepath.Dir(filepath.Dir(path))
	for _, p := range []string{open, filepath.Dir(path), path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(open, "other"), self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	as := func(how, path string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(open, "other"), path)
		cmd.Env, cmd.Dir = []string{otherEnv + "=" + how}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		return cmd
	}
	if out, err := as("dial", path).Output(); err != nil || string(out) != `"" <nil>` {
		t.Errorf("another account was told %s, %v", out, err)
	}
	if !strings.Contains(told.all(), "its account is 65534, and not 0") {
		t.Errorf("said %q", told.all())
	}
	var mine said
	for i, meet := range []func(string) error{
		func(theirs string) error {
			_, err := dial(context.Background(), theirs, greetDeadline)
			return err
		},
		func(theirs string) error {
			return carryBy(context.Background(), NewClient("", mine.say, theirs), transport.Script{})
		},
		func(theirs string) error {
			c, _, err := NewClient("", mine.say, theirs, path).greet(context.Background(), greetDeadline)
			if err != nil {
				return err
			}
			return fmt.Errorf("the next one: %w", errors.Join(c.Close(), &peerError{}))
		},
	} {
		theirs := filepath.Join(open, fmt.Sprint("theirs", i))
		cmd := as("listen", theirs)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		var pe *peerError
		if err := meet(theirs); !errors.As(err, &pe) {
			t.Errorf("another account's server: %v", err)
		}
		if got, _ := io.ReadAll(out); string(got) != `"" <nil>` {
			t.Errorf("another account's server was told %s", got)
		}
		_ = cmd.Wait()
	}
	if want := "the connections of claude-fleet serve at " + open + "/theirs1 are not used: its account is 65534, and not 0; this run connects by itself\n" +
		"what listens at " + open + "/theirs2 is passed over: its account is 65534, and not 0; " + path + " is tried"; mine.all() != want {
		t.Errorf("said %q, want %q", mine.all(), want)
	}
}
