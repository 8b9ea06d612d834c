package transport

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostCPU is the processor time that the server's connections have taken so
// far, with all that runs or has run under them. The kernel counts in ticks of
// 10 ms.
func (s *server) hostCPU() time.Duration {
	shown, _ := exec.Command("ps", "-eo", "pid=,ppid=").Output()
	under := map[int][]int{}
	for line := range strings.Lines(string(shown)) {
		f := strings.Fields(line)
		pid, _ := strconv.Atoi(f[0])
		parent, _ := strconv.Atoi(f[1])
		under[parent] = append(under[parent], pid)
	}
	ticks := 0
	all := slices.Clone(under[s.cmd.Process.Pid])
	for len(all) > 0 {
		pid := all[0]
		all = append(all[1:], under[pid]...)
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, after, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(after); len(f) > 14 {
			for _, at := range f[11:15] { // own time and that of reaped children
				n, _ := strconv.Atoi(at)
				ticks += n
			}
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// BenchmarkHostCPU is what one script on a warm link costs the host.
func BenchmarkHostCPU(b *testing.B) {
	long := "#" + strings.Repeat(" a line of some length or other", 300) + "\n:"
	for _, bc := range []struct {
		name string
		s    Script
	}{
		{"once", Script{Text: ":"}}, {"repeatable", Script{Text: ":", Repeatable: true}},
		{"once, 9 kB", Script{Text: long}}, {"repeatable, 9 kB", Script{Text: long, Repeatable: true}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := startServer(b)
			conn := newPool(b, Options{}).Conn(s.endpoint())
			run := func() {
				if _, err := conn.Run(b.Context(), bc.s); err != nil {
					b.Fatal(err)
				}
			}
			for range 4 {
				run()
			}
			before := s.hostCPU()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64((s.hostCPU()-before).Microseconds())/1000/float64(b.N), "host-ms")
		})
	}
}
