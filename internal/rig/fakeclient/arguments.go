package fakeclient

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// arguments are those of the real client that make a difference here.
type arguments struct {
	session string // id of the conversation
}

// parseArguments reads the command line. done means that it asked for no more
// than was printed.
func parseArguments(args []string) (a arguments, done bool) {
	for i, arg := range args {
		switch arg {
		case "--version", "-v":
			fmt.Println(Version + " (Claude Code)")
			return a, true
		case "--resume", "--session-id":
			if i+1 < len(args) {
				a.session = args[i+1]
			}
		}
	}
	if a.session == "" {
		a.session = uuid()
	}
	return a, false
}

// vimMode tells whether the client's own state asks for the vim mode.
func vimMode(home string) bool {
	raw, err := os.ReadFile(filepath.Join(home, ".claude.json"))
	if err != nil {
		return false
	}
	var state struct {
		EditorMode string `json:"editorMode"`
	}
	return json.Unmarshal(raw, &state) == nil && state.EditorMode == "vim"
}
