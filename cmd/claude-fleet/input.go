package main

import (
	"context"
	"io"
	"os"
)

// readInput reads a file, or in where it is called "-", up to limit bytes. It
// ends with ctx, although neither the opening of a pipe that nobody writes to
// nor the reading of a terminal can be called off: what is left waiting there
// ends with the program, which has nothing else to do then.
func readInput(ctx context.Context, file string, in io.Reader, limit int64) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readFrom(file, in, limit)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readFrom(file string, in io.Reader, limit int64) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, limit))
}
