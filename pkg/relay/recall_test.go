package relay

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// elsewhere is an endpoint that nobody connects to.
var elsewhere = transport.Endpoint{Destination: "elsewhere"}

// recalls asks as a program of its own would, and as one whose call is then carried.
func recalls(t *testing.T, path, key string) *Recalled {
	t.Helper()
	r := NewClient("", nil, path).Recall(within(t, time.Minute), elsewhere, key)
	if r == nil {
		t.Fatal("no answer")
	}
	t.Cleanup(r.Close)
	r.client.count(elsewhere)
	return r
}

func wantKept(t *testing.T, s *Server, n int) {
	t.Helper()
	rigtest.Eventually(t, 20*time.Second, fmt.Sprintf("%d to be kept", n), func() (bool, string) {
		return s.info().Kept == n, fmt.Sprint(s.info().Kept)
	})
}

// TestRecall has one program leave bytes for the next, by their key.
func TestRecall(t *testing.T) {
	path := socket(t)
	if r := NewClient("", nil, path).Recall(t.Context(), elsewhere, "a"); r != nil {
		t.Errorf("without a server: %+v", r)
	}
	var none *Recalled
	none.Keep([]byte("x"))
	none.Close()
	s := serving(t, Options{}, path)
	if r := recalls(t, path, "a"); r.Blob != nil || r.Age != 0 {
		t.Errorf("at first %q, %v", r.Blob, r.Age)
	}
	began := time.Now()
	full := bytes.Repeat([]byte{0, 0xff, '\n'}, maxBlob/3)
	for i, blob := range [][]byte{[]byte("a\x00\xff"), full} { // the second in place of the first
		recalls(t, path, "a").Keep(blob)
		rigtest.Eventually(t, 20*time.Second, "it to be kept", func() (bool, string) {
			r := recalls(t, path, "a")
			return bytes.Equal(r.Blob, blob), fmt.Sprintf("%d: %.20q", i, r.Blob)
		})
	}
	if r := recalls(t, path, "a"); r.Age < 0 || r.Age > time.Since(began) {
		t.Errorf("%v old, after %v", r.Age, time.Since(began))
	}
	if r := recalls(t, path, "b"); r.Blob != nil {
		t.Errorf("by another key %q", r.Blob)
	}
	wantKept(t, s, 1)
	// What is too long is not, and neither is nothing.
	recalls(t, path, "c").Keep(make([]byte, maxBlob+1))
	recalls(t, path, "c").Keep(nil)
	recalls(t, path, "b").Keep([]byte("b")) // the twin
	wantKept(t, s, 2)
	if r := recalls(t, path, "c"); r.Blob != nil {
		t.Errorf("too long: %d bytes", len(r.Blob))
	}
	if r := NewClient("", nil, path).Recall(t.Context(), elsewhere, strings.Repeat("k", maxKey+1)); r != nil {
		t.Error("by a key that is too long")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if r := NewClient("", nil, path).Recall(over, elsewhere, "a"); r != nil {
		t.Error("for one who is gone")
	}
}

// TestRecallBuild gives a program of another build nothing, and keeps nothing of it.
func TestRecallBuild(t *testing.T) {
	path := socket(t)
	s := serving(t, Options{Version: "v1.2.3"}, path)
	var told said
	for _, version := range []string{"v1.2.2", ""} {
		if r := NewClient(version, told.say, path).Recall(within(t, time.Minute), elsewhere, "a"); r != nil {
			t.Errorf("%q was answered", version)
		}
	}
	if len(told.lines) != 2 || !strings.Contains(told.all(), "it is version v1.2.3, and this is v1.2.2") {
		t.Errorf("said %q", told.all())
	}
	// One who does not look at what greets it is not answered either.
	c := greeted(t, path, "v1.2.2")
	if err := writeFrame(c, kindRecall, recall{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if f, err := readFrame(c, maxBlob); err == nil {
		t.Errorf("got %c", f.kind)
	}
	if r := NewClient("v1.2.3", told.say, path).Recall(within(t, time.Minute), elsewhere, "a"); r == nil { // the negative
		t.Error("the same build is not answered")
	} else {
		r.client.count(elsewhere)
		r.Keep([]byte("x"))
	}
	wantKept(t, s, 1)
}

// greeted is a connection to the server for what no Client does.
func greeted(t *testing.T, path, version string) *net.UnixConn {
	t.Helper()
	c, _, err := NewClient(version, nil, path).greet(within(t, time.Minute), greetDeadline)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// TestRecallHostile has callers say what no Client does: it ends their connection and
// nothing else, and is not kept.
func TestRecallHostile(t *testing.T) {
	path := socket(t)
	s := serving(t, Options{}, path)
	ended := func(c *net.UnixConn) {
		t.Helper()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("it was answered")
		}
	}
	for name, bytes := range map[string]string{
		"no JSON": "R\x00\x00\x00\x01\x00\x00\x00\x00{", "a number": "R\x00\x00\x00\x09\x00\x00\x00\x00{\"key\":1}",
		"without end": "R\x7f\xff\xff\xff\x7f\xff\xff\xff", "kept unasked": "k\x00\x00\x00\x02\x00\x00\x00\x01{}x",
	} {
		t.Log(name)
		c := greeted(t, path, "")
		if _, err := c.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		ended(c)
	}
	for name, bytes := range map[string]string{
		"too long": "k\x00\x00\x00\x02\x00\x01\x00\x01{}", "another kind": "c\x00\x00\x00\x02\x00\x00\x00\x01{}x", "a second time": "R\x00\x00\x00\x0b\x00\x00\x00\x00{\"key\":\"a\"}",
		"empty": "k\x00\x00\x00\x02\x00\x00\x00\x00{}",
	} {
		t.Log(name)
		c := greeted(t, path, "")
		if err := writeFrame(c, kindRecall, recall{Key: "a"}); err != nil {
			t.Fatal(err)
		}
		if f, err := readFrame(c, maxBlob); err != nil || f.kind != kindRecalled {
			t.Fatalf("%v", err)
		}
		if _, err := c.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		ended(c)
	}
	recalls(t, path, "b").Keep([]byte("b"))
	wantKept(t, s, 1)
}

// TestRecallHoldsUpNobody ends a server while callers wait to have something kept.
func TestRecallHoldsUpNobody(t *testing.T) {
	path := socket(t)
	serving(t, Options{}, path)
	r := recalls(t, path, "a")
	began := time.Now()
	if _, err := Stop(within(t, time.Minute), path); err != nil || time.Since(began) > 20*time.Second {
		t.Errorf("it ended after %v: %v", time.Since(began), err)
	}
	r.Keep([]byte("x")) // says nothing
}

// TestRecallOfCarried keeps nothing of a program that has gone direct, and of one
// whose script was carried, which may end as soon as it has said so.
func TestRecallOfCarried(t *testing.T) {
	_, _, e := box(t, rig.HostSpec{})
	path := socket(t)
	s := serving(t, Options{}, path)
	for i, carried := range []bool{false, true} {
		c := NewClient("", nil, path)
		r := c.Recall(within(t, time.Minute), e, fmt.Sprint(carried))
		if r == nil || r.Blob != nil {
			t.Fatalf("%+v", r)
		}
		o := transport.Options{Carrier: c}
		if !carried {
			o.Carrier = nil
		}
		run(t, program(t, o, nil), e, "true")
		r.Keep(fmt.Append(nil, carried))
		r.Close()
		wantKept(t, s, i)
	}
	if r := NewClient("", nil, path).Recall(within(t, time.Minute), e, "true"); r == nil || string(r.Blob) != "true" {
		t.Errorf("%+v", r)
	} else {
		r.Close()
	}
	if r := NewClient("", nil, path).Recall(within(t, time.Minute), transport.Endpoint{Local: true}, "a"); r != nil {
		t.Errorf("of this machine: %+v", r)
	}
}

// TestRecallFrozen does not wait for a server that does not run on.
func TestRecallFrozen(t *testing.T) {
	path := socket(t)
	cmd := child(t, serveEnv+"="+path)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	there(t, path)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var told said
	c := NewClient("", told.say, path)
	if r := c.Recall(within(t, time.Minute), elsewhere, "a"); r != nil || time.Since(began) > 20*time.Second {
		t.Errorf("%+v after %v", r, time.Since(began))
	}
	if r := c.Recall(within(t, time.Minute), elsewhere, "a"); r != nil || len(told.lines) != 1 {
		t.Errorf("%+v, said %q", r, told.all())
	}
}

// TestStore holds the bounds of what is kept.
func TestStore(t *testing.T) {
	var s store
	now := time.Now()
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for i := range maxBlobs {
		s.put(fmt.Sprint(i), []byte("x"), at(time.Duration(i)))
	}
	if blob, age := s.get("0", at(time.Minute)); string(blob) != "x" || age != time.Minute {
		t.Errorf("%q, %v", blob, age)
	}
	s.put("one more", []byte("y"), at(time.Minute))
	if blob, _ := s.get("1", at(time.Minute)); blob != nil || s.count() != maxBlobs {
		t.Errorf("the one used the longest ago is there, of %d", s.count())
	}
	if blob, _ := s.get("0", at(time.Minute)); blob == nil {
		t.Error("one that was used is gone")
	}
	// Of large ones there are fewer.
	for i := range maxBlobs {
		s.put(fmt.Sprint("large ", i), make([]byte, maxBlob), at(2*time.Minute))
	}
	if got := s.count(); s.size > maxKept || got != maxKept/maxBlob-1 { // the keys count too
		t.Errorf("%d of them, %d bytes", got, s.size)
	}
	s.put("large", make([]byte, maxBlob+1), at(2*time.Minute))
	s.put(strings.Repeat("k", maxKey+1), []byte("x"), at(2*time.Minute))
	for _, key := range []string{"large", strings.Repeat("k", maxKey+1)} {
		if blob, _ := s.get(key, at(2*time.Minute)); blob != nil {
			t.Errorf("%d bytes by a key of %d", len(blob), len(key))
		}
	}
	// Unused, it goes: it is not given, and then not there.
	s.put("last", []byte("z"), at(3*time.Minute))
	if blob, _ := s.get("last", at(3*time.Minute+keptFor-1)); string(blob) != "z" {
		t.Errorf("%q", blob)
	}
	if blob, _ := s.get("last", at(3*time.Minute+2*keptFor-1)); blob != nil {
		t.Errorf("after five minutes without use %q", blob)
	}
	s.sweep(at(3*time.Minute + keptFor))
	if s.count() != 1 {
		t.Errorf("%d are left", s.count())
	}
	s.sweep(at(3*time.Minute + 2*keptFor))
	if s.count() != 0 || s.size != 0 {
		t.Errorf("%d are left, %d bytes", s.count(), s.size)
	}
}
