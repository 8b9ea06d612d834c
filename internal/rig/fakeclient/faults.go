package fakeclient

import (
	"os"
	"syscall"
	"time"
)

// faults are those of the script, and how often the moment of each has come.
type faults struct {
	list []Fault
	seen []int
}

// due counts a moment for one fault, and tells whether it comes now.
func (f *faults) due(i int) bool {
	f.seen[i]++
	fault := f.list[i]
	// A file that is made again is asked for again.
	return fault.Each || fault.On == OnFile && fault.Nth == 0 || f.seen[i] == max(1, fault.Nth)
}

func (f *faults) awaitsFile() bool {
	for _, fault := range f.list {
		if fault.On == OnFile {
			return true
		}
	}
	return false
}

// moment brings about the faults of a moment, for OnPaste those at so many bytes.
func (c *client) moment(on string, bytes int) {
	for i, f := range c.faults.list {
		if f.On == on && (on != OnPaste || f.Byte == bytes) && c.faults.due(i) {
			c.bring(f)
		}
	}
}

// momentOfPaste is a moment in the middle of a paste; it is over once it came.
func (c *client) momentOfPaste(bytes int) {
	c.passed = bytes
	c.moment(OnPaste, bytes)
}

// nextStop is where the paste that goes on has to stop for a fault: the first
// place at or behind have that was not stopped at.
func (c *client) nextStop(have int) (at int, ok bool) {
	for _, f := range c.faults.list {
		if f.On == OnPaste && f.Byte >= have && f.Byte > c.passed && (!ok || f.Byte < at) {
			at, ok = f.Byte, true
		}
	}
	return at, ok
}

// bring brings a fault about, now or later.
func (c *client) bring(f Fault) {
	if f.After > 0 {
		d := f.After
		f.After = 0
		c.after(d, func() { c.bring(f) })
		return
	}
	if f.Dialog != "" {
		c.open(f)
	}
	if f.Survey {
		c.survey = true
		c.log.add(Surveyed, "")
	}
	if f.Keys != "" {
		c.person(f.Keys)
	}
	if f.EndTurn {
		c.endTurn()
	}
	if f.Kill {
		c.log.add(Killed, "")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if f.Stall > 0 {
		c.stall(f.Stall)
	}
}

// person presses keys beside those that come from the terminal.
func (c *client) person(keys string) {
	in := input{pending: []byte(keys)}
	never := func(int) (int, bool) { return 0, false }
	for {
		t, ok, _ := in.next(never)
		switch {
		case ok:
			c.take(t)
		case in.waits():
			c.take(in.giveUp())
		default:
			return
		}
	}
}

func (c *client) stall(d time.Duration) {
	c.log.add(Stalled, d.String())
	c.stalled = true
	c.after(d, func() {
		c.stalled = false
		c.pump()
	})
}

// lookForFiles brings about the faults whose file is there, shows them, and then
// takes the file away, which tells whoever made it.
func (c *client) lookForFiles() {
	for _, f := range c.faults.list {
		if f.On != OnFile {
			continue
		}
		path := File(c.home, f.File)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		for i, same := range c.faults.list {
			if same.On == OnFile && same.File == f.File && c.faults.due(i) {
				c.bring(same)
			}
		}
		c.draw()
		_ = os.Remove(path)
	}
}
