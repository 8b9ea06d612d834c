//go:build dist

package main

import (
	"fmt"
	"os"

	"github.com/claude-fleet/claude-fleet/internal/man"
)

// With the tag dist the program writes its manual and does nothing else: only
// here is the tree of commands within reach, and the product itself holds
// nothing of it.
//
//	go run -tags dist ./cmd/claude-fleet DIR VERSION DATE
func init() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags dist ./cmd/claude-fleet DIR VERSION YYYY-MM-DD")
		os.Exit(2)
	}
	if err := man.Write(os.Args[1], newRoot(&app{}), man.Edition{Version: os.Args[2], Date: os.Args[3]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
