package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// known looks at a folder until nothing of it is asked any more.
func known(t *testing.T, h *madeHost, dirs ...string) *memory {
	t.Helper()
	m := newMemory()
	for range 2 {
		h.look(t, m, dirs...)
		settle(m)
	}
	if _, called := h.look(t, m, dirs...); called != "stat" {
		t.Fatalf("a look at what is known calls %s", called)
	}
	return m
}

// TestSiteChanged has what must not be told a second time: each change shows at the
// very next look.
func TestSiteChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, make, change, before, after string }{
		{"a commit", makeRepo, "cd app; git commit -q --allow-empty -m two", "main +0 -0 *0 one", "main +0 -0 *0 two"},
		{"a commit that packs the branches", makeRepo, "cd app; git commit -q --allow-empty -m two; git pack-refs --all", "main +0 -0 *0 one", "main +0 -0 *0 two"},
		{"a branch that was packed", makeRepo + "git pack-refs --all", "cd app; git commit -q --allow-empty -m two", "main +0 -0 *0 one", "main +0 -0 *0 two"},
		{"another branch, same commit", makeRepo + "git branch side", "cd app; git checkout -q side", "main +0 -0 *0 one", "side +0 -0 *0 one"},
		{"detached", makeRepo, "cd app; git checkout -q --detach", "main +0 -0 *0 one", "(detached) +0 -0 *0 one"},
		{"staged", makeRepo, "cd app; echo 22 >f; git add f", "main +0 -0 *0 one", "main +0 -0 *1 one"},
		{"a branch pointed elsewhere", makeRepo + "git commit -q --allow-empty -m two", "cd app; git update-ref refs/heads/main HEAD^", "main +0 -0 *0 two", "main +0 -0 *0 one"},
		{"fetched", makeRepo + "cd ..; git clone -q app c; cd app; git commit -q --allow-empty -m two", "cd c; git fetch -q", "main +0 -0 *0 one", "main +0 -1 *0 one"},
		{"in a worktree", makeRepo + "git worktree add -q ../c -b side", "cd c; git commit -q --allow-empty -m two", "side +0 -0 *0 one", "side +0 -0 *0 two"},
		{"a repository in its place", makeRepo, "rm -rf app/.git; cd app; git init -q; git add .; git commit -qm other", "main +0 -0 *0 one", "main +0 -0 *0 other"},
		{"no repository any more", makeRepo, "rm -rf app/.git", "main +0 -0 *0 one", "none"},
		{"a repository where there was none", "mkdir app", "cd app; git init -q; git commit -q --allow-empty -m one", "none", "main +0 -0 *0 one"},
		{"a repository below", makeRepo, "cd app/sub; git init -q; git commit -q --allow-empty -m inner", "main +0 -0 *0 one", "main +0 -0 *1 inner"},
		{"the first commit", "git init -q app", "cd app; git commit -q --allow-empty -m one", "main +0 -0 *0", "main +0 -0 *0 one"},
		{"a link that leads elsewhere", makeRepo + "cd ..; ln -s app c; git init -q two; cd two; git commit -q --allow-empty -m two", "rm c; ln -s two c", "main +0 -0 *0 one", "main +0 -0 *0 two"},
		// The age of what is told again, from the other side: these may take a while.
		{"a file", makeRepo, "echo 2 >app/f", "main +0 -0 *0 one", "main +0 -0 *0 one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := makeHost(t)
			h.sh(t, c.make)
			dir := "~/app"
			switch {
			case strings.Contains(c.change, "cd c;"), strings.Contains(c.change, "rm c;"):
				dir = "~/c"
			case c.name == "a repository below":
				dir = "~/app/sub"
			}
			m := known(t, h, dir)
			if seen, _ := h.look(t, m, dir); seen.git(dir) != c.before {
				t.Fatalf("before: %q, want %q", seen.git(dir), c.before)
			}
			h.sh(t, c.change)
			if seen, called := h.look(t, m, dir); seen.git(dir) != c.after {
				t.Errorf("after: %q, want %q (%s)", seen.git(dir), c.after, called)
			}
		})
	}
}

// TestSiteSameSecond has an index written anew, in place, within the second in which
// it was looked at, on a machine whose times have no fractions: inode, size and
// times are what they were, and it is told anew all the same.
func TestSiteSameSecond(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.program(t, "stat", realPath(t, "stat")+` "$@" | `+realPath(t, "sed")+` 's/\.[0-9]*//g'`)
	h.sh(t, makeRepo+`
for n in 2 1; do git update-index --cacheinfo "100644,$(echo $n | git hash-object -w --stdin),f"; cp .git/index ../index$n; done`)
	m := newMemory()
	blocks := func() string {
		s := newSite(nil, "~/app")
		out := h.run(t, s)
		return readSite(out).blocks["1"]
	}
	hits := 0
	for try := 0; hits < 3; try++ {
		if try == 100 {
			t.Fatal("the index is never as it was")
		}
		h.sh(t, "cat index1 >app/.git/index")
		before := blocks()
		if seen, _ := h.look(t, m, "~/app"); seen.git("~/app") != "main +0 -0 *0 one" {
			t.Fatalf("before: %s", seen.git("~/app"))
		}
		h.sh(t, "cat index2 >app/.git/index")
		seen, called := h.look(t, m, "~/app")
		if seen.git("~/app") != "main +0 -0 *1 one" {
			t.Fatalf("after: %s by %s", seen.git("~/app"), called)
		}
		if before != "" && before == blocks() {
			hits++
		}
	}
}

// TestSiteAges lets what is known grow old.
func TestSiteAges(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.sh(t, makeRepo)
	df := func(percent int) {
		h.program(t, "df", fmt.Sprintf("printf 'x\\n/dev/a 100 50 50000000 %d%%%% /\\n'", percent))
	}
	df(50)
	m := known(t, h, "~/app")
	repo, folder := m.folders["~/app"].repo, m.folders["~/app"]
	for _, l := range []lease{repo.lease, folder.room} {
		if l.d < factAge*3/4 || l.d > factAge || l.over(l.from.Add(l.d-time.Second)) || !l.over(l.from.Add(l.d)) || !l.over(l.from.Add(-time.Second)) {
			t.Errorf("a lease of %s", l.d)
		}
	}
	if m.clock.d > clockAge {
		t.Errorf("the clock's lease is %s", m.clock.d)
	}
	h.sh(t, "echo 2 >app/f")
	df(91)
	seen, called := h.look(t, m, "~/app")
	if called != "stat" || seen.git("~/app") != "main +0 -0 *0 one" || seen.folders["~/app"].disk.UsedPercent != 50 {
		t.Errorf("within the lease: %s, %+v", seen.git("~/app"), seen.folders["~/app"].disk)
	}
	folder.room.from = folder.room.from.Add(-folder.room.d)
	seen, called = h.look(t, m, "~/app")
	if called != "df stat" || seen.folders["~/app"].disk.UsedPercent != 91 {
		t.Errorf("the disk after its lease: %s, %+v", called, seen.folders["~/app"].disk)
	}
	if _, called = h.look(t, m, "~/app"); called != "stat" {
		t.Errorf("the look after that calls %s", called)
	}
	repo.from = repo.from.Add(-repo.d)
	if seen, called = h.look(t, m, "~/app"); strings.Count(called, "git") != 1 || seen.git("~/app") != "main +0 -0 *1 one" {
		t.Errorf("the count after its lease, with a commit that is known: %s by %s", seen.git("~/app"), called)
	}
	// A folder of another file system under the same name.
	h.sh(t, "mv app x; mkdir app")
	if seen, called = h.look(t, m, "~/app"); seen.git("~/app") != "none" {
		t.Errorf("%s by %s", seen.git("~/app"), called)
	}
	h.sh(t, "mv app y; ln -s x app")
	df(7)
	if seen, _ = h.look(t, m, "~/app"); seen.folders["~/app"].disk != nil && seen.folders["~/app"].disk.UsedPercent != 7 {
		t.Errorf("another folder has the disk of the one before: %+v", seen.folders["~/app"].disk)
	}
}

// TestSiteClock sets the host's clock and zone while it is looked at.
func TestSiteClock(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.env = h.env[:len(h.env)-1] // no TZ
	set := func(ahead time.Duration) {
		h.program(t, "date", fmt.Sprintf("echo clock %d +0100", time.Now().Add(ahead).Unix()))
	}
	zone := func(name string) { h.program(t, "readlink", "echo /usr/share/zoneinfo/"+name) }
	off := func(s siteSeen) time.Duration { return time.Until(s.now).Round(10 * time.Second) }
	set(time.Hour)
	zone("Asia/Tokyo")
	m := newMemory()
	for range 2 {
		if s, _ := h.look(t, m); off(s) != time.Hour || s.zone.String() != "Asia/Tokyo" {
			t.Fatalf("%s, %s", s.now, s.zone)
		}
	}
	set(-time.Hour)
	zone("Europe/Rome")
	if s, called := h.look(t, m); off(s) != time.Hour || s.zone.String() != "Asia/Tokyo" || called != "stat" {
		t.Errorf("within the minute: %s, %s, called %s", s.now, s.zone, called)
	}
	m.clock.from = m.clock.from.Add(-m.clock.d)
	if s, _ := h.look(t, m); off(s) != -time.Hour {
		t.Errorf("after it: %s", s.now)
	}
	// The link of the zone is looked at each time, and read when it is another.
	h.program(t, "stat", realPath(t, "stat")+` "$@" | sed '$s/^/9/'`)
	if s, called := h.look(t, m); s.zone.String() != "Europe/Rome" {
		t.Errorf("another zone: %s, called %s", s.zone, called)
	}
	zone("No/Such")
	h.program(t, "stat", realPath(t, "stat")+` "$@" | sed '$s/^/8/'`)
	if s, _ := h.look(t, m); s.zone.String() != "" {
		t.Errorf("a zone that nobody knows: %s", s.zone)
	} else if _, east := s.now.Zone(); east != 3600 {
		t.Errorf("%d s east", east)
	}
	m.clock.from = time.Now().Add(time.Hour) // our clock was set back, or it is no use for another reason
	if _, called := h.look(t, m); !strings.Contains(called, "date") {
		t.Errorf("with a lease from the future: %s", called)
	}
}

// TestSiteClockLate has a df that takes its time, and an answer that does: the clock is
// asked for behind the one, and is told but not kept by the other.
func TestSiteClockLate(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.program(t, "df", `echo >"$HOME/disks"; exec `+realPath(t, "df")+` "$@"`)
	h.program(t, "date", `[ -e "$HOME/disks" ] && echo clock 1000 +0000`)
	if s, _ := h.look(t, nil, "~"); s.now.Unix() != 1000 || s.folders["~"].disk == nil {
		t.Errorf("the clock was asked for before the disks: %s, %v", s.now, s.folders["~"].disk)
	}
	for late, kept := range map[time.Duration]bool{0: true, clockLate + time.Second: false} {
		m := newMemory()
		s := newSite(m)
		s.now = s.now.Add(-late)
		if got := s.parse([]byte("clock 1000 +0000\n")).now.Unix(); got != 1000 || m.hints(time.Now()).clock != kept {
			t.Errorf("%s late: %d, kept: %v", late, got, !kept)
		}
		// One that nobody asked for is a repository's.
		if got := newSite(m).parse([]byte("clock 2000 +0000\n")).now.Unix(); (got >= 2000) == kept {
			t.Errorf("%s late, then: %d", late, got)
		}
	}
}

// TestSiteSettings changes the editor's mode, and the token's file.
func TestSiteSettings(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.write(t, ".claude.json", `{"editorMode": "vim", "x": "\"editorMode\": \"normal\""}`)
	m := newMemory()
	for range 2 {
		if s, _ := h.look(t, m); !s.vim || !s.login.IsZero() {
			t.Fatalf("%+v", s.system)
		}
		settle(m)
	}
	if s, called := h.look(t, m); !s.vim || called != "stat" {
		t.Errorf("known: %v, called %s", s.vim, called)
	}
	h.write(t, ".claude/settings.json", "{\n \"editorMode\" : \"normal\"\n}")
	if s, _ := h.look(t, m); s.vim {
		t.Error("the new settings are not seen")
	}
	h.write(t, ".claude/settings.json", "{\n \"editorMode\" : \"vim\"\n}")
	if s, _ := h.look(t, m); !s.vim {
		t.Error("the change of the settings is not seen")
	}
	h.sh(t, "mv .claude/settings.json dot; ln -s ../dot .claude/settings.json")
	for range 2 {
		if s, _ := h.look(t, m); !s.vim {
			t.Fatal("settings behind a link are not seen")
		}
		settle(m)
	}
	h.write(t, "dot", "{\n \"editorMode\" : \"normal\"\n}")
	if s, _ := h.look(t, m); s.vim {
		t.Error("the change of settings behind a link is not seen")
	}
	h.write(t, EnvFile, "X=y\n")
	at := time.Unix(1700000000, 0)
	if err := os.Chtimes(filepath.Join(h.home, EnvFile), at, at); err != nil {
		t.Fatal(err)
	}
	if s, _ := h.look(t, m); !s.login.Equal(at) {
		t.Errorf("the token's file is of %s", s.login)
	}
}

// TestSiteStats has a BSD's stat, and none.
func TestSiteStats(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.sh(t, makeRepo)
	h.write(t, EnvFile, "X=y\n")
	h.program(t, "stat", `[ "$1 $2" = "-L -f" ] || exit 1; shift 3; exec `+realPath(t, "stat")+` -L -c '%i %s %.9Y %.9Z' "$@"`)
	m := known(t, h, "~/app")
	if m.stat != "bsd" {
		t.Errorf("the stat is taken for %q", m.stat)
	}
	if s, _ := h.look(t, m, "~/app"); s.login.IsZero() {
		t.Error("the token's file is not seen")
	}
	h.sh(t, "cd app; git commit -q --allow-empty -m two")
	if s, _ := h.look(t, m, "~/app"); s.git("~/app") != "main +0 -0 *0 two" {
		t.Errorf("a change: %s", s.git("~/app"))
	}
	h.program(t, "stat", "exit 1")
	m = newMemory()
	for range 3 {
		if s, called := h.look(t, m, "~/app"); s.git("~/app") != "main +0 -0 *0 two" || !strings.Contains(called, "git") {
			t.Errorf("without a stat: %s by %s", s.git("~/app"), called)
		}
		settle(m)
	}
}
