// Command picture makes the terminal picture of the README: it drives
// claude-fleet over a fleet that it makes on this machine, in a shell in a real
// tmux, and draws the screens that came of it as one SVG.
//
// What may live here: the story that the picture tells, the reading of a captured
// screen, and its drawing. What may not: the making of hosts, which is
// internal/rig's, and words on the picture that no program printed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	var binary, out, still string
	flag.StringVar(&binary, "bin", "bin/claude-fleet", "the claude-fleet `BINARY` to show")
	flag.StringVar(&out, "o", "docs/picture.svg", "write the picture to `FILE`")
	flag.StringVar(&still, "stills", "", "write each screen as an SVG of its own into `FOLDER`, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, binary, out, still); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, still string) error {
	frames, err := record(ctx, binary)
	if err != nil {
		return err
	}
	if still != "" {
		if err := writeStills(still, frames); err != nil {
			return err
		}
	}
	svg, err := draw(frames)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, svg, 0o644); err != nil {
		return err
	}
	fmt.Printf("picture: %s: %d screens, %d bytes\n", out, len(frames), len(svg))
	return nil
}
