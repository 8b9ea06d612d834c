package fleet

import (
	"fmt"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// tree makes a process table from rows of "pid parent foreground stat name".
func tree(t *testing.T, rows ...string) processes {
	t.Helper()
	out := ""
	for _, r := range rows {
		out += r + "\n"
	}
	table := parseProcesses(transport.Section{Out: []byte(out), Ran: true})
	if len(table) != len(rows) {
		t.Fatalf("read %d of %d rows", len(table), len(rows))
	}
	return table
}

func TestProcessState(t *testing.T) {
	const pane = 100
	for _, c := range []struct {
		name  string
		rows  []string
		known map[int]bool
		want  detect.Process
	}{
		{"the client under its launcher", []string{"1 0 -1 S init", "100 1 100 Ss+ sh", "101 100 100 Sl+ claude"}, nil, detect.ProcessRunning},
		{"the pane is the client", []string{"100 1 100 Ss+ claude"}, nil, detect.ProcessRunning},
		{"suspended", []string{"100 1 100 Ss+ bash", "101 100 100 T claude"}, nil, detect.ProcessStopped},
		{"suspended, with an editor in front of it", []string{"100 1 102 Ss bash", "101 100 102 T claude", "102 100 102 S+ vi"}, nil, detect.ProcessUnseen},
		{"a shell alone", []string{"100 1 100 Ss+ -bash"}, nil, detect.ProcessGone},
		{"a shell under a shell", []string{"100 1 102 Ss bash", "102 100 102 S+ fish"}, nil, detect.ProcessGone},
		{"somebody else's client does not count", []string{"100 1 100 Ss+ bash", "200 1 200 Ss+ claude"}, nil, detect.ProcessGone},
		{"a wrapper that may hide a client", []string{"100 1 101 Ss bash", "101 100 101 S+ docker"}, nil, detect.ProcessUnknown},
		{"an editor", []string{"100 1 101 Ss bash", "101 100 101 S+ vim"}, nil, detect.ProcessUnseen},
		{"a wrapper that outlives its client", []string{"100 1 101 Ss bash", "101 100 101 S+ python3"}, nil, detect.ProcessUnseen},
		{"a client by another name, by its own word", []string{"100 1 101 Ss bash", "101 100 101 S+ node"}, map[int]bool{101: true}, detect.ProcessRunning},
		{"a pane that is gone", []string{"1 0 -1 S init"}, nil, detect.ProcessUnknown},
		{"a loop in the table", []string{"100 1 100 Ss+ bash", "7 8 7 S claude", "8 7 7 S claude"}, nil, detect.ProcessGone},
	} {
		if got := tree(t, c.rows...).state(pane, c.known); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	bash := tree(t, "100 1 100 Ss+ bash", "101 100 100 T claude", "102 101 100 T git", "103 100 100 S sleep", "104 100 100 S bash", "105 100 100 S gitstatusd-linux")
	if jobs := bash.jobs(pane, nil); len(jobs) != 1 || jobs[0] != "sleep" {
		t.Errorf("jobs beside the client: %q", jobs)
	}
	var none processes
	if got := none.state(pane, nil); got != detect.ProcessUnknown {
		t.Errorf("without a table: %q", got)
	}
	if parseProcesses(transport.Section{Out: []byte("1 0 1 S claude\n"), Ran: true, ExitCode: 1}) != nil {
		t.Error("the table of a ps that failed was believed")
	}
}

func FuzzProcesses(f *testing.F) {
	f.Add([]byte("1 0 -1 S init\n100 1 100 Ss+ sh\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		table := parseProcesses(transport.Section{Out: out, Ran: true})
		for pid := range table {
			_ = table.state(pid, nil)
		}
	})
}

func TestParseFolder(t *testing.T) {
	whole := "path /srv/app\ndisk 3145728 42\nhead main\ncommit abc1234 1700000000 a subject: with words\n" +
		"git branch.oid 0123\ngit branch.head main\ngit branch.upstream origin/main\ngit branch.ab +2 -1\ndirty 3\n"
	f := parseFolder([]byte(whole))
	if f.path != "/srv/app" || f.disk == nil || *f.disk != (Disk{FreeBytes: 3 << 30, UsedPercent: 42}) || f.disk.low() {
		t.Errorf("folder: %+v %+v", f, f.disk)
	}
	if g := f.git; g == nil || g.Branch != "main" || g.Ahead != 2 || g.Behind != 1 || g.Dirty != 3 ||
		g.LastCommit == nil || g.LastCommit.Hash != "abc1234" || g.LastCommit.Subject != "a subject: with words" || g.LastCommit.Time.Unix() != 1700000000 {
		t.Errorf("git: %+v", f.git)
	}
	// No such directory, and a directory that is no repository.
	if f := parseFolder(nil); f.path != "" || f.git != nil || f.disk != nil {
		t.Errorf("nothing: %+v", f)
	}
	if f := parseFolder([]byte("path /srv\ndisk 1 1\n")); f.git != nil || f.path != "/srv" {
		t.Errorf("no repository: %+v", f)
	}
	// A status that was cut off: the branch is known, the count is not.
	if f := parseFolder([]byte("path /srv\nhead main\ndirty 0\n")); f.git == nil || f.git.Branch != "main" || f.git.Dirty != -1 {
		t.Errorf("cut off: %+v", f.git)
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

func FuzzParseFolder(f *testing.F) {
	f.Add([]byte("path /x\ndisk 1 2\nhead m\ncommit a 1 s\ngit branch.ab +1 -1\ndirty 1\n"))
	f.Fuzz(func(t *testing.T, out []byte) { _ = fmt.Sprintf("%+v", parseFolder(out)) })
}

func TestParseSystem(t *testing.T) {
	sys := parseSystem([]byte("1795973852 +0900\nAsia/Tokyo\n\"editorMode\": \"vim\"\n"))
	if sys.now.Unix() != 1795973852 || sys.zone == nil || sys.zone.String() != "Asia/Tokyo" || !sys.vim {
		t.Errorf("%+v", sys)
	}
	sys = parseSystem([]byte("1795973852 -0330\nNo/Such\n"))
	if _, offset := sys.now.Zone(); offset != -(3*3600+1800) || sys.vim {
		t.Errorf("by offset: %+v", sys)
	}
	// A host that says nothing: our clock, and no zone.
	if sys = parseSystem(nil); sys.now.IsZero() || sys.zone != nil {
		t.Errorf("nothing: %+v", sys)
	}
}
