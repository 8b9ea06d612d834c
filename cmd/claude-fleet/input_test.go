package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadInput holds that one interrupt ends the wait for an input that never
// comes, be it a terminal's or a pipe's that nobody opens, and loses none that does.
func TestReadInput(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() }) // lets the read that is left end
	t.Cleanup(func() {                       // as does this for the open of the pipe
		if f, err := os.OpenFile(fifo, os.O_RDWR, 0); err == nil {
			_ = f.Close()
		}
	})
	for _, file := range []string{"-", fifo} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if text, err := readInput(ctx, file, silent, 10); !errors.Is(err, context.Canceled) || text != nil {
			t.Errorf("%s: read %q, %v; want it cancelled", file, text, err)
		}
	}
	text, err := readInput(t.Context(), "-", strings.NewReader("a prompt"), 3)
	if string(text) != "a p" || err != nil {
		t.Errorf("read %q, %v; want the first three bytes", text, err)
	}
	if _, err := readInput(t.Context(), filepath.Join(t.TempDir(), "none"), nil, 3); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
