package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc: Linux tells every program the same, whatever
// its kernel counts in.
const tick = 10 * time.Millisecond

// hostCPU is the CPU time of the sshd, of all that it has started, and of the tmux
// servers so far; 0 where there is no /proc. A process that has ended counts once it
// was waited for.
func (g *ground) hostCPU() time.Duration {
	raw, err := os.ReadFile(filepath.Join(g.dir, "gate", "sshd", "pid"))
	if err != nil {
		return 0
	}
	daemon, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		return 0
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	children, spent := map[int][]int{}, map[int]time.Duration{}
	for _, path := range stats {
		// One that ends meanwhile is not there.
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// Behind the name, which is in parentheses: state, parent, …, and as the 12th
		// to 15th the times of user and system, its own and its children's.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
		for _, f := range fields[11:15] {
			n, _ := strconv.Atoi(f)
			spent[pid] += time.Duration(n) * tick
		}
	}
	var sum time.Duration
	for next := []int{daemon}; len(next) > 0; next = next[1:] {
		sum += spent[next[0]]
		next = append(next, children[next[0]]...)
	}
	for _, e := range g.ends {
		sum += spent[e.server]
	}
	return sum
}
