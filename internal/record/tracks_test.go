package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sceneName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// faults are what is wrong with tables of scenes.
func faults(tracks []track) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	scenes, names := map[string]bool{}, map[string]bool{}
	for _, t := range tracks {
		if t.name == "" || names[t.name] {
			add("track %q: no name of its own", t.name)
		}
		names[t.name] = true
		if len(t.scenes) == 0 {
			add("track %s has no scenes", t.name)
		}
		for i, s := range t.scenes {
			if !sceneName.MatchString(s.name) || scenes[s.name] {
				add("scene %q: no name of its own that a file can have", s.name)
			}
			scenes[s.name] = true
			for state := range strings.SplitSeq(s.state, "|") {
				if !slices.Contains([]string{ready, busy, gate, limited, unauth, crashed, unknown}, state) {
					add("scene %s: no such state %q", s.name, state)
				}
			}
			for word := range strings.SplitSeq(s.draft, "|") {
				if !slices.Contains([]string{empty, draft, noBox}, word) {
					add("scene %s: no such word for a draft %q", s.name, word)
				}
			}
			if s.until.holds == nil {
				add("scene %s waits for nothing", s.name)
			}
			if s.how&follows != 0 && i > 0 && t.scenes[i-1].how&last != 0 && !t.shell {
				add("scene %s follows one after which the client starts anew", s.name)
			}
		}
	}
	return all
}

func TestTracks(t *testing.T) {
	for _, fault := range faults(tracks) {
		t.Error(fault)
	}
}

func TestFaultsAreSeen(t *testing.T) {
	good := scene{"ready-a", ready, empty, still, nil, idle}
	for _, c := range []struct {
		name   string
		scenes []scene
		want   string
	}{
		{"none", []scene{good}, ""},
		{"no scenes", nil, "no scenes"},
		{"a name twice", []scene{good, good}, "no name of its own"},
		{"a path", []scene{{"../a", ready, empty, still, nil, idle}}, "no name of its own"},
		{"no state", []scene{{"a", "", empty, still, nil, idle}}, "no such state"},
		{"half a state", []scene{{"a", "ready|bussy", empty, still, nil, idle}}, "bussy"},
		{"no draft", []scene{{"a", ready, "", still, nil, idle}}, "for a draft"},
		{"no condition", []scene{{"a", ready, empty, still, nil, cond{}}}, "waits for nothing"},
		{"follows the last", []scene{{"a", ready, empty, last, nil, idle}, {"b", ready, empty, follows, nil, idle}}, "starts anew"},
	} {
		got := strings.Join(faults([]track{{name: "t", scenes: c.scenes}}), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestChosen(t *testing.T) {
	all := track{scenes: []scene{
		{name: "a"}, {name: "b", how: follows}, {name: "c", how: follows}, {name: "d"}, {name: "e"}, {name: "f", how: follows},
	}}
	for only, want := range map[string]string{
		"^b$": "a b", "^c$": "a b c", "a": "a", "d": "d", "a|f": "a e f", "x": "", ".": "a b c d e f",
	} {
		var names []string
		for _, s := range all.chosen(regexp.MustCompile(only)).scenes {
			names = append(names, s.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", only, got, want)
		}
	}
	if got := len(all.chosen(nil).scenes); got != 6 {
		t.Errorf("all: %d scenes", got)
	}
	if got := len(all.chains()); got != 3 {
		t.Errorf("%d chains, want 3", got)
	}
}

func TestEverySettingIsFound(t *testing.T) {
	for name := range settings {
		if _, err := findSetting(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := findSetting("dark"); err == nil || !strings.Contains(err.Error(), "light, nocolor") {
		t.Errorf("an unknown one: %v", err)
	}
}
