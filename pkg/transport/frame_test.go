package transport

import (
	"bytes"
	"strings"
	"testing"
)

// readFrame feeds pieces and gives what became of them.
func readFrame(pieces ...[]byte) (frameState, bool) {
	settled := false
	f := newFrameReader("NONCE", func(error) { settled = true })
	for _, p := range pieces {
		_, _ = f.Write(p)
	}
	return f.state(), settled
}

func TestFrameReader(t *testing.T) {
	for _, tc := range []struct {
		name, in, body, seen string
		run                  runID
		code                 int
		done, failed         bool
	}{
		{name: "plain", in: "NONCEb12 212\nbodyNONCEe3\n", body: "body", run: runID{12, 212}, code: 3, done: true},
		{name: "noise before and after", in: "hello\nNONCEb1 21\nx\nNONCEe0\nbye", body: "x\n", seen: "hello\n", run: runID{1, 21}, done: true},
		{name: "noise without line feed", in: "$ NONCEb1 21\nNONCEe0\n", seen: "$ ", run: runID{1, 21}, done: true},
		{name: "nearly a mark in the body", in: "NONCEb1 21\nNONCNONCEb9 29\nNONCEe7\n", body: "NONCNONCEb9 29\n", run: runID{1, 21}, code: 7, done: true},
		{name: "an end before the beginning", in: "NONCEe0\n", seen: "NONCEe0\n"},
		{name: "no end", in: "NONCEb1 21\nbody", body: "body", run: runID{1, 21}},
		{name: "cut in the code", in: "NONCEb1 21\nbodyNONCEe1", body: "body", run: runID{1, 21}},
		{name: "cut in the ids", in: "NONCEb1 2"},
		{name: "one id", in: "NONCEb1\n", failed: true},
		{name: "three ids", in: "NONCEb1 2 3\n", failed: true},
		{name: "no id", in: "NONCEbx\n", failed: true},
		{name: "an endless id", in: "NONCEb" + strings.Repeat("1", 40) + "\n", failed: true},
		{name: "no code", in: "NONCEb1 21\nNONCEe\n", run: runID{1, 21}, failed: true},
		{name: "nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var bytewise [][]byte
			for i := range tc.in {
				bytewise = append(bytewise, []byte{tc.in[i]})
			}
			for _, pieces := range [][][]byte{{[]byte(tc.in)}, bytewise} {
				got, settled := readFrame(pieces...)
				if string(got.body) != tc.body || string(got.seen) != tc.seen || got.run != tc.run || got.code != tc.code ||
					got.done != tc.done || (got.err != nil) != tc.failed || settled != (tc.done || tc.failed) {
					t.Errorf("in %d pieces: got %+v, settled %t", len(pieces), got, settled)
				}
			}
		})
	}
}

func TestFrameReaderLimits(t *testing.T) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	feed := func(f *frameReader, mib int) {
		for range mib {
			_, _ = f.Write(chunk)
		}
	}
	for _, tc := range []struct {
		head   string
		mib    int
		failed bool
	}{{"", 32, false}, {"", 34, true}, {"NONCEb1 21\n", 32, false}, {"NONCEb1 21\n", 34, true}} {
		f := newFrameReader("NONCE", func(error) {})
		_, _ = f.Write([]byte(tc.head))
		feed(f, tc.mib)
		if got := f.state(); (got.err != nil) != tc.failed {
			t.Errorf("%d MiB after %q: %v", tc.mib, tc.head, got.err)
		}
		if tc.head == "" && len(f.buf) > 100 {
			t.Errorf("%d bytes from before the frame are kept", len(f.buf))
		}
	}
	// A whole frame that came in one piece is no exception.
	f := newFrameReader("NONCE", func(error) {})
	_, _ = f.Write([]byte("NONCEb1 21\n" + strings.Repeat("x", maxOutput+1) + "NONCEe0\n"))
	if f.state().err == nil {
		t.Error("a byte too many was taken")
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte("hiNONCEb12 212\nbodyNONCEe3\n"), 3)
	f.Add([]byte("NONCEbNONCEe0\nNONCEb1 21\n"), 1)
	f.Add([]byte("NONCEb1 21\nNONNONCEe01\n"), 7)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		whole, settled := readFrame(in)
		if whole.done != (settled && whole.err == nil) {
			t.Fatalf("done %t, settled %t, %v", whole.done, settled, whole.err)
		}
		if whole.done {
			want := append([]byte{}, whole.body...)
			if i := bytes.Index(in, []byte("NONCEb")); i < 0 || !bytes.Contains(in[i:], append(append([]byte("\n"), want...), "NONCEe"...)) {
				t.Fatalf("%q gave %q", in, want)
			}
		}
		if size < 1 || size > len(in) {
			return
		}
		var pieces [][]byte
		for rest := in; len(rest) > 0; {
			n := min(size, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		split, _ := readFrame(pieces...)
		// A failure may be noticed sooner or later; a success may not differ.
		if whole.done != split.done || whole.done && (!bytes.Equal(whole.body, split.body) || whole.code != split.code || whole.run != split.run) {
			t.Fatalf("%q in pieces of %d: %+v, whole: %+v", in, size, split, whole)
		}
	})
}
