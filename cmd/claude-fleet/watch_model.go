package main

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// watchMode is what the keys of the table mean now.
type watchMode int

const (
	modeTable   watchMode = iota // they choose a host and what to do with it
	modeHelp                     // any key leads back
	modePrompt                   // they write a prompt for target
	modeFetch                    // the dialog of target is being asked for
	modeChoose                   // they choose an option of it
	modeText                     // they write an answer of one's own to it
	modeConfirm                  // y does then, any other key does not
)

// action is what the table went away for, to come back after it. Its host is named,
// never counted: rows may come and go.
type action struct {
	verb   verb
	host   string
	prompt string              // of verbSend
	asked  fleet.Question      // of verbAnswer: the dialog that the person saw
	answer fleet.AnswerOptions // of verbAnswer
}

// verb is what an action does.
type verb string

const (
	verbNone      verb = "" // the program ended for another reason, such as a question of a login
	verbQuit      verb = "quit"
	verbSuspend   verb = "suspend"
	verbRead      verb = "read"
	verbAttach    verb = "attach"
	verbSend      verb = "send"
	verbAnswer    verb = "answer"
	verbExplain   verb = "explain"
	verbInterrupt verb = "interrupt"
)

// What the model is told beside keys and sizes.
type (
	// tickMsg says what time it is, once a second.
	tickMsg time.Time
	// wakeMsg says that there is something to be had from the outside's news.
	wakeMsg struct{}
	// questionMsg is the dialog that was asked for.
	questionMsg struct {
		host string
		q    fleet.Question
		err  error
	}
)

// outside is what the table has done by others. None of it waits.
type outside interface {
	news() (seen []fleet.Watched, notice string) // what came since, and the last notice, if any
	lookAgain()                                  // begin to look anew, at once
	question(host string)                        // have a questionMsg sent
	writing(bool)                                // somebody writes or chooses: nothing else may take the keys
}

// watchModel is the live table: what it knows, what is selected, and what the keys mean.
// Its methods touch nothing outside but through outside, and so can be tested as
// they are.
type watchModel struct {
	app      *app // for its colours alone
	path     string
	hosts    []fleet.Host
	interval time.Duration
	out      outside

	width, height int
	now           time.Time
	seen          map[string]fleet.Watched
	lastSeen      time.Time

	selected string // a host's name
	top      int    // the first row in sight
	mode     watchMode
	note     string // a word in the foot until the next key

	target  string // the host that the mode is about; kept while the selection may not move
	line    line
	unsent  map[string]string // prompts that hosts refused, for another try
	asked   fleet.Question
	choice  int       // an option of asked
	opened  time.Time // when asked was shown; zero once a key has moved in it
	confirm string
	then    action

	do action // what the program ended for
}

func newWatchModel(a *app, f *fleet.Fleet, hosts []fleet.Host, interval time.Duration, out outside) *watchModel {
	m := &watchModel{app: a, path: f.Table().Path, hosts: hosts, interval: interval, out: out, seen: map[string]fleet.Watched{}, unsent: map[string]string{}, now: time.Now()}
	if len(hosts) > 0 {
		m.selected = hosts[0].Name
	}
	return m
}

// Init implements tea.Model.
func (m *watchModel) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *watchModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m.now = time.Time(msg)
	case wakeMsg:
		m.hear()
	case questionMsg:
		m.answered(msg)
	case tea.PasteMsg:
		// Elsewhere what is pasted is nothing: its letters must not be taken for keys.
		if m.mode == modePrompt || m.mode == modeText {
			m.line.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		if m.do.verb == verbNone { // the first key that ends the table is the last that it minds
			m.note = ""
			m.press(msg)
		}
	}
	m.out.writing(m.mode != modeTable && m.mode != modeHelp)
	if m.do.verb != verbNone {
		return m, tea.Quit
	}
	return m, nil
}

// hear takes in what came from the outside.
func (m *watchModel) hear() {
	seen, notice := m.out.news()
	for _, w := range seen {
		m.seen[w.Host.Name] = w
		if w.SeenAt.After(m.lastSeen) {
			m.lastSeen = w.SeenAt
		}
	}
	if m.lastSeen.After(m.now) {
		m.now = m.lastSeen
	}
	if notice != "" {
		m.note = notice
	}
}

// sent takes in what became of a prompt. One that was refused, of which nothing was
// typed, is kept for the next time that somebody writes to that host; any other may
// have arrived, and would arrive twice.
func (m *watchModel) sent(do action, err error) {
	delete(m.unsent, do.host)
	switch fleet.ClassOf(err) {
	case fleet.ClassRefused, fleet.ClassUsage:
		m.unsent[do.host] = do.prompt
	}
}

// index is the row of the selected host.
func (m *watchModel) index() int {
	for i, h := range m.hosts {
		if h.Name == m.selected {
			return i
		}
	}
	return 0
}

// move selects the host that many rows on.
func (m *watchModel) move(by int) {
	if len(m.hosts) > 0 {
		m.selected = m.hosts[min(max(m.index()+by, 0), len(m.hosts)-1)].Name
	}
}

// lateness is the most that a look may be late, on a machine with much to do, before
// what was seen last counts as stale; a host's deadline, where that is shorter.
const lateness = 10 * time.Second

// stale tells how long ago a host was seen, if that is longer than two looks at it
// may take. What does not answer is not looked at so often and so is never stale: its
// state says more.
func (m *watchModel) stale(w fleet.Watched) (time.Duration, bool) {
	late := lateness
	if w.Host.Timeout > 0 {
		late = min(late, w.Host.Timeout)
	}
	age := m.now.Sub(w.SeenAt)
	return age, w.Err == nil && age > 2*m.interval+late
}
