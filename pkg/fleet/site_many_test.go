package fleet

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSiteBatch has many repositories that are new: they share a limit and a count,
// and one that hangs costs the others nothing.
func TestSiteBatch(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.program(t, "sh", "exec "+realPath(t, "sh")+` "$@"`)
	h.program(t, "awk", "exec "+realPath(t, "awk")+` "$@"`)
	h.program(t, "cat", "exec "+realPath(t, "cat")+` "$@"`)
	var dirs []string
	want := map[string]string{}
	for i := range 9 {
		name := fmt.Sprintf("a '%d", i)
		dirs = append(dirs, "~/"+name)
		want["~/"+name] = fmt.Sprintf("main +0 -0 *%d one", i)
		h.sh(t, fmt.Sprintf(`mkdir "%[1]s"; cd "%[1]s"; git init -q; git commit -q --allow-empty -m one; for n in $(seq %[2]d); do echo >"x$n"; done`, name, i))
	}
	h.sh(t, `git init -q unborn; cd unborn; echo >x; cd ..; git init -q --bare bare; git init -q filter; git -C filter config filter.x.clean x; git -C filter commit -q --allow-empty -m one`)
	for dir, text := range map[string]string{"~/unborn": "main +0 -0 *1", "~/bare": "main +0 -0 *-1", "~/filter": "main +0 -0 *-1 one"} {
		dirs, want[dir] = append(dirs, dir), text
	}
	check := func(m *memory) string {
		t.Helper()
		seen, called := h.look(t, m, dirs...)
		for dir, text := range want {
			if got := seen.git(dir); got != text {
				t.Errorf("%s: %q, want %q", dir, got, text)
			}
		}
		return called
	}
	called := check(nil)
	// 11 of them are counted in two parts, or in one where there is one processor. The bare one
	// takes three more, and so does the one with a filter, after a first that can't fail.
	parts := strings.Count(called, "sh")
	if parts < 1 || parts > 2 || strings.Count(called, "timeout") != 7+parts || strings.Count(called, "awk") != parts || strings.Count(called, "cat") != parts-1 {
		t.Errorf("called %s", called)
	}
	m := newMemory()
	for range 2 {
		check(m)
		settle(m)
	}
	if called = check(m); called != "stat" {
		t.Errorf("at last called %s", called)
	}
	// The fifth hangs.
	h.program(t, "git", `case "$PWD $*" in *"'4 "*none*) ;; *"'4 "*status*) exec `+realPath(t, "sleep")+` 61.25 ;; esac; exec `+realPath(t, "git")+` "$@"`)
	want["~/a '4"] = "main +0 -0 *-1 one"
	began := time.Now()
	check(nil)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestSiteOnce has many sessions in one folder and in folders of one repository: git
// is asked once, and df too.
func TestSiteOnce(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.sh(t, makeRepo+"echo 2 >f; cd ..; ln -s app/sub link; git init -q other")
	dirs := []string{"~/app", "~/app/sub", "~/app", "~/link", "~/other", filepath.Join(h.home, "app"), "~/app/nowhere"}
	m := newMemory()
	for look := 1; look <= 3; look++ {
		s, called := h.look(t, m, dirs...)
		for _, d := range dirs[:6] {
			want := "main +0 -0 *1 one"
			if d == "~/other" {
				want = "main +0 -0 *0"
			}
			if s.git(d) != want || s.folders[d].disk == nil {
				t.Errorf("%s: %s", d, s.git(d))
			}
		}
		if _, there := s.folders["~/app/nowhere"]; there {
			t.Error("a folder that is not there")
		}
		if look == 1 && (strings.Count(called, "git") != 3 || strings.Count(called, "df") != 1) {
			t.Errorf("called %s", called)
		}
		if look == 3 && called != "stat" {
			t.Errorf("the third look called %s", called)
		}
		settle(m)
	}
	// Fewer of them, in another order.
	if s, called := h.look(t, m, "~/other", "~/link"); called != "stat" || s.git("~/link") != "main +0 -0 *1 one" {
		t.Errorf("%s by %s", s.git("~/link"), called)
	}
	// One who looks once is told nothing that was known, and asks all.
	if _, called := h.look(t, nil, "~/app"); called != "date df git git stat timeout timeout" {
		t.Errorf("who looks once calls %s", called)
	}
}
