package fleet

import (
	"fmt"
	"testing"
	"time"
)

// parsed is what a site makes of the lines about one folder.
func parsed(lines string) (folder, system) {
	seen := newSite(nil, "~/app").parse([]byte(lines))
	return seen.folders["~/app"], seen.system
}

func TestParseSite(t *testing.T) {
	f, _ := parsed("path 1 /srv/app\nblock 1\n1 2 3.5 4.5\nend\ngit 1\n# branch.oid 0123\n# branch.head main\n# branch.upstream origin/main\n" +
		"# branch.ab +2 -1\n# stash 4\n# code 0\n9\ncommit abc1234 1700000000 a subject: with words\ndf 1\nFilesystem 1024-blocks Used Available Capacity Mounted on\n//a b/c 10 5 3145728 42% /mnt/x\n")
	if f.path != "/srv/app" || f.disk == nil || *f.disk != (Disk{FreeBytes: 3 << 30, UsedPercent: 42}) || f.disk.low() {
		t.Errorf("folder: %+v %+v", f, f.disk)
	}
	if g := f.git; g == nil || g.Branch != "main" || g.Ahead != 2 || g.Behind != 1 || g.Dirty != 3 || g.UntrackedSkipped ||
		g.LastCommit == nil || g.LastCommit.Hash != "abc1234" || g.LastCommit.Subject != "a subject: with words" || g.LastCommit.Time.Unix() != 1700000000 {
		t.Errorf("git: %+v", f.git)
	}
	// No such directory, and a directory that is no repository.
	if f, _ := parsed(""); f.path != "" || f.git != nil || f.disk != nil {
		t.Errorf("nothing: %+v", f)
	}
	if f, _ := parsed("path 1 /srv\x01x\n"); f.git != nil || f.path != "/srv\nx" {
		t.Errorf("no repository: %+v", f)
	}
	for _, c := range []struct {
		name, lines, branch string
		dirty               int
	}{
		{"a count that was cut off", "# code 124\n1\nhead main\n", "main", -1},
		{"a list that was cut off", "# branch.head main\n# code 143\n5\nhead main\n", "main", -1},
		{"a head without a branch", "# branch.oid 12\n# branch.head (detached)\n# code 0\n3\n", "(detached)", 0},
		{"no count asked for", "uncounted\n# branch.head main\n# code 0\n2\n", "main", -1},
	} {
		f, _ := parsed("path 1 /srv\nblock 1\nend\ngit 1\n" + c.lines)
		if f.git == nil || f.git.Branch != c.branch || f.git.Dirty != c.dirty {
			t.Errorf("%s: %+v", c.name, f.git)
		}
	}
	if f, _ := parsed("path 1 /srv\nblock 1\nend\ngit 1\n# code 128\n1\n"); f.git != nil {
		t.Errorf("refused: %+v", f.git)
	}
	if f, _ := parsed("path 1 /srv\nblock 1\nend\ngit 1\ntracked\n# branch.head main\n# code 0\n3\n"); f.git == nil || !f.git.UntrackedSkipped || f.git.Dirty != 1 {
		t.Errorf("large: %+v", f.git)
	}
	// What a repository says is never about the machine or another folder.
	f, sys := parsed("tz UTC\npath 1 /srv\nblock 1\nend\ngit 1\n# branch.head main\n# code 0\n2\ncommit a 1 x\ntz Asia/Tokyo\npath 1 /evil\n\"editorMode\": \"vim\"\nblock e\n1 1 1999999999 1999999999\nend\nof 1 2\n")
	if f.path != "/srv" || f.git == nil || f.git.Branch != "main" || sys.vim || !sys.login.IsZero() || sys.zone.String() != "UTC" {
		t.Errorf("forged: %+v %+v", f, sys)
	}
	for _, c := range []struct {
		disk Disk
		low  bool
	}{
		{Disk{FreeBytes: 100 << 30, UsedPercent: 90}, false},
		{Disk{FreeBytes: 100 << 30, UsedPercent: 91}, true},
		{Disk{FreeBytes: 2 << 30, UsedPercent: 5}, false},
		{Disk{FreeBytes: 2<<30 - 1, UsedPercent: 5}, true},
	} {
		if c.disk.low() != c.low {
			t.Errorf("%+v low: %v", c.disk, !c.low)
		}
	}
}

// TestParseDisks has df fail at one of several folders.
func TestParseDisks(t *testing.T) {
	paths := "path 1 /srv/a\npath 2 /gone\npath 3 /srv/data/x\npath 4 /home\n"
	df := "df 1 2 3 4\nFilesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 9 9 100 1% /\n/dev/b 9 9 200 2% /srv/data\n/dev/a 9 9 100 1% /\n"
	got := newSite(nil, "/srv/a", "/gone", "/srv/data/x", "/home").parse([]byte(paths + df)).folders
	for dir, used := range map[string]int{"/srv/a": 1, "/srv/data/x": 2, "/home": 1} {
		if d := got[dir].disk; d == nil || d.UsedPercent != used {
			t.Errorf("%s: %+v", dir, d)
		}
	}
	if d := newSite(nil, "/srv/a").parse([]byte("path 1 /srv/a\ndf 1\n")).folders["/srv/a"].disk; d != nil {
		t.Errorf("without an answer: %+v", d)
	}
}

func FuzzParseSite(f *testing.F) {
	f.Add([]byte("tz UTC\npath 1 /x\nblock 1\n1 2 3 4\nend\ngit 1\n# branch.ab +1 -1\n# code 0\n3\nof 2 1\nclock 1 +0000\ndf 1\nx\na 1 2 3 4% /\n"))
	f.Fuzz(func(_ *testing.T, out []byte) {
		m := newMemory()
		for range 2 {
			_ = fmt.Sprintf("%+v", newSite(m, "a", "b").parse(out))
			_ = newSite(m, "a", "b").fragment()
		}
	})
}

func TestParseSystem(t *testing.T) {
	_, sys := parsed("tz Asia/Tokyo\nclock 1795973852 +0900\n\"editorMode\": \"vim\"\n")
	if sys.now.Unix() != 1795973852 || sys.zone == nil || sys.zone.String() != "Asia/Tokyo" || !sys.vim {
		t.Errorf("%+v", sys)
	}
	_, sys = parsed("tz \nzone /usr/share/zoneinfo/No/Such\nclock 1795973852 -0330\n\"editorMode\": \"vim\"\n\"editorMode\": \"normal\"\n")
	if _, offset := sys.now.Zone(); offset != -(3*3600+1800) || sys.vim {
		t.Errorf("by offset: %+v", sys)
	}
	if _, sys = parsed("tz \nzone /var/db/timezone/zoneinfo/Europe/Rome\n"); sys.zone == nil || sys.zone.String() != "Europe/Rome" {
		t.Errorf("by link: %+v", sys)
	}
	// A host that says nothing: our clock, and no zone.
	if _, sys = parsed(""); time.Since(sys.now) > time.Minute || sys.zone != nil {
		t.Errorf("nothing: %+v", sys)
	}
}
