package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	out := flag.String("out", "dist", "the folder to write to; what an earlier release left there goes")
	check := flag.Bool("check", false, "release the commit twice in clones of it, compare and examine what came out, and keep nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() error {
		if *check {
			return checkAll(ctx, ".", os.Stdout)
		}
		r, err := release(ctx, ".", *out)
		if err == nil {
			fmt.Printf("%s: %d archives of %s, their SBOMs and SHA256SUMS\n", *out, len(targets), r.version)
		}
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
