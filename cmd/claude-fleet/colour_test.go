package main

import (
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// Where there is no terminal only --color decides; on one, tables.txt specifies it.
func TestColours(t *testing.T) {
	tests := []struct {
		mode    colourMode
		json    bool
		noColor string
		want    string
	}{
		{colourAuto, false, "", "ready"},
		{colourNever, false, "", "ready"},
		{colourAlways, false, "", "\x1b[32mready\x1b[0m"},
		{colourAlways, false, "1", "\x1b[32mready\x1b[0m"},
		{colourAlways, true, "", "ready"},
	}
	for _, tt := range tests {
		t.Setenv("NO_COLOR", tt.noColor)
		a := &app{colour: tt.mode, json: tt.json}
		if got := a.paint(stateColour(detect.Ready), "ready"); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	var m colourMode
	for _, value := range []string{"", "yes", "Always"} {
		if err := m.Set(value); err == nil || m != "" {
			t.Errorf("--color=%q is taken", value)
		}
	}
}
