package fleet

import (
	"slices"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// startDialog is one that up may answer: the label to choose, and what must be
// said on the screen or in the title for it to be that dialog. No other dialog
// is ever answered.
type startDialog struct {
	name   string
	says   []string // any of them
	labels []string // of the option that lets the client start, by version
}

// startDialogs are the two that stand between a launch and a ready session, as
// captured from client 1.0.128 to 2.1.332.
var startDialogs = []startDialog{
	{"trust", []string{"trust", "Accessing workspace"}, []string{"Yes, I trust this folder", "Yes, proceed"}},
	{"bypass", []string{"Bypass Permissions mode"}, []string{"Yes, I accept"}},
}

// startAnswer finds the option of a dialog that up may choose: the dialog's
// name and the option's index; false for any other dialog. The way out must be
// on the screen too: a menu cut off by a small pane is not known whole.
func startAnswer(d *detect.Dialog, screen string) (name string, option int, ok bool) {
	if d == nil || len(d.Options) != 2 || d.Selected < 0 || d.Selected >= len(d.Options) || !slices.Contains(d.Options, "No, exit") {
		return "", 0, false
	}
	for _, known := range startDialogs {
		said := false
		for _, s := range known.says {
			said = said || strings.Contains(d.Title, s) || strings.Contains(screen, s)
		}
		if !said {
			continue
		}
		for _, label := range known.labels {
			if i := slices.Index(d.Options, label); i >= 0 {
				return known.name, i, true
			}
		}
	}
	return "", 0, false
}
