package fleet

import (
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
		{"another one beside a suspended one", []string{"100 1 102 Ss bash", "101 100 102 Tl claude", "102 100 102 Sl+ claude"}, nil, detect.ProcessRunning},
		{"suspended, with a helper of its name", []string{"100 1 100 Ss+ bash", "101 100 100 Tl claude", "102 101 100 S claude"}, nil, detect.ProcessStopped},
		{"two that are suspended", []string{"100 1 100 Ss+ bash", "101 100 100 Tl claude", "102 100 100 Tl claude"}, nil, detect.ProcessStopped},
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
