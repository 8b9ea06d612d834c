package fakeclient

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// escapeWait is how long an Escape waits for the rest of a sequence.
const escapeWait = 50 * time.Millisecond

// filePoll is how often the files of OnFile are looked for.
const filePoll = 5 * time.Millisecond

// client is the whole of it. All but the reader of the terminal runs on the
// goroutine of loop.
type client struct {
	script Script
	home   string
	log    *logger
	args   arguments

	in       input
	read     chan []byte   // what the terminal sent
	readNext chan struct{} // asks for more of it
	asked    bool
	calls    chan func() // what timers ask for
	ended    chan struct{}
	stalled  bool
	passed   int // bytes of the paste at which faults were brought about
	escaping int // counts inputs, so that a timer knows whether its Escape still waits

	session *session
	journal *journal
	screen  screen
	faults  faults

	box        edit
	chips      int
	pasteID    string // of the frames of chips
	stash      []cell
	history    [][]cell
	past       int  // how far back in it Up has gone
	vim        bool // the box has a vim mode
	vimNow     bool // and is in NORMAL
	deafTill   time.Time
	notice     string
	exitHint   bool      // C-c was pressed a moment ago
	escHint    bool      // Escape was pressed on a draft a moment ago
	expandTill time.Time // a large paste may be opened by another
	items      []item
	turn       *turn
	queue      [][]cell
	dialog     *dialog
	survey     bool
	ticks      int // of the restless footer and the spinner
	frozen     bool
	quit       bool
}

// Main is the program: it draws on the terminal that it was started on until it
// is told to end, and returns the exit code.
func Main(args []string) int {
	if len(args) > 0 && args[0] == "setup-token" {
		return setupToken()
	}
	a, done := parseArguments(args)
	if done {
		return 0
	}
	c, err := newClient(a)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		return 1
	}
	old, err := term.MakeRaw(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude: standard input is no terminal:", err)
		return 1
	}
	err = c.run()
	c.screen.leave()
	_ = term.Restore(0, old)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		return 1
	}
	fmt.Printf("\n\x1b[2mResume this session with:\nclaude --dangerously-skip-permissions --resume %s\x1b[0m\n", c.journal.id)
	return 0
}

func newClient(a arguments) (*client, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c := &client{
		home: home, args: a, read: make(chan []byte), readNext: make(chan struct{}, 1), calls: make(chan func()), ended: make(chan struct{}), passed: -1, pasteID: randomHex(2),
	}
	if c.script, err = readScript(home); err != nil {
		return nil, err
	}
	if c.log, err = openLog(home); err != nil {
		return nil, err
	}
	c.vim = vimMode(home)
	c.vimNow = c.vim && c.script.VimNormal
	c.faults.list = c.script.Faults
	c.faults.seen = make([]int, len(c.script.Faults))
	c.session = openSession(home, cwd, a.session)
	c.journal = openJournal(home, cwd, a.session, c.after)
	return c, nil
}

// run is the program between the preparing of the terminal and its restoring.
func (c *client) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP)
	defer stop()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	defer signal.Stop(term)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	defer close(c.ended)
	go c.readTerminal()
	if err := c.session.say("idle", ""); err != nil {
		return err
	}
	defer c.session.remove()
	c.screen.enter()
	c.draw()
	c.log.add(Started, c.journal.id)
	c.moment(OnStart, 0)
	c.startClocks()
	c.pump()
	for !c.quit {
		c.draw()
		select {
		case raw, ok := <-c.read:
			if !ok { // the terminal is gone
				c.read, c.quit = nil, true
				continue
			}
			c.asked = false
			c.escaping++
			c.in.add(raw)
			c.pump()
		case call := <-c.calls:
			call()
		case <-resized:
			c.screen.forget()
			w, h := c.screen.size()
			c.log.add(Resized, fmt.Sprintf("%dx%d", w, h))
		case <-ctx.Done():
			c.quit = true
		case <-term:
			c.log.add(Terminated, "")
			if !c.script.DeafTerm {
				c.after(c.script.TermLate, func() { c.quit = true })
			}
		}
	}
	c.log.add(Exited, "")
	return nil
}

// readTerminal reads a piece when it is asked to, so that a client that does not
// read leaves what comes in the terminal. It ends with the program: a read of a
// terminal can't be broken off.
func (c *client) readTerminal() {
	buf := make([]byte, 4096)
	for {
		select {
		case <-c.readNext:
		case <-c.ended:
			return
		}
		n, err := os.Stdin.Read(buf)
		if err != nil {
			close(c.read)
			return
		}
		select {
		case c.read <- append([]byte(nil), buf[:n]...):
		case <-c.ended:
			return
		}
	}
}

// after calls fn on the goroutine of the loop, unless that has ended by then.
func (c *client) after(d time.Duration, fn func()) {
	time.AfterFunc(d, func() {
		select {
		case c.calls <- fn:
		case <-c.ended:
		}
	})
}

// startClocks starts what goes on by itself.
func (c *client) startClocks() {
	if c.faults.awaitsFile() {
		var look func()
		look = func() {
			c.lookForFiles()
			c.after(filePoll, look)
		}
		c.after(filePoll, look)
	}
	var tick func()
	every := 250 * time.Millisecond
	if r := c.script.Restless; r > 0 && r < every {
		every = r
	}
	tick = func() {
		if c.script.Restless > 0 || c.turn != nil {
			c.ticks++
		}
		c.after(every, tick)
	}
	c.after(every, tick)
}

// pump takes what input there is, until a fault stops the reading, and asks for
// more.
func (c *client) pump() {
	for !c.stalled && !c.quit {
		t, ok, reached := c.in.next(c.nextStop)
		if reached {
			c.momentOfPaste(len(c.in.paste))
			continue
		}
		if !ok {
			break
		}
		c.take(t)
	}
	if c.in.waits() && !c.stalled {
		n := c.escaping
		c.after(escapeWait, func() {
			if n == c.escaping && c.in.waits() && !c.stalled {
				c.take(c.in.giveUp())
				c.pump()
			}
		})
	}
	if !c.stalled && !c.asked && !c.quit {
		c.asked = true
		c.readNext <- struct{}{}
	}
}
