// Command claude is the fake client as a program. It has the real one's name,
// since a process is known by that.
//
// What may live here: the call. What may not: anything else.
package main

import (
	"os"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
)

func main() { os.Exit(fakeclient.Main(os.Args[1:])) }
