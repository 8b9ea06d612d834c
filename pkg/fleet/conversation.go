package fleet

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// resuming is the command with the flag that resumes a conversation. A command
// that is more than one call of the client, or that names a conversation itself,
// stays as it is.
func resuming(command, id string) string {
	if id == "" || strings.ContainsAny(command, ";|&<>`$()\n") {
		return command
	}
	words := strings.Fields(command)
	for len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	if len(words) == 0 || path.Base(words[0]) != clientName {
		return command
	}
	for _, w := range words {
		flag, _, _ := strings.Cut(w, "=")
		if slices.Contains([]string{"--resume", "-r", "--continue", "-c", "--session-id", "--print", "-p"}, flag) {
			return command
		}
	}
	return command + " --resume " + id
}

// terminalFragment prints the processes whose terminal is that of a pane. A client
// of which only the shell around it was killed is one of them, though it no longer
// descends from the pane's process.
func terminalFragment(tty string) string {
	return fmt.Sprintf("ps -t %s -o pid= 2>/dev/null\n:\n", transport.Quote(strings.TrimPrefix(tty, "/dev/")))
}

// lastConversation finds the conversation that the client of a pane had before
// it went; empty when there is none. The file of a client that was killed stays
// and names its pane; where a later client removed it, the newest conversation
// of the directory that no running client has is the one.
func (f *Fleet) lastConversation(ctx context.Context, s seen) (string, error) {
	dir := s.home
	if dir == "" {
		return "", nil
	}
	ctx, cancel := f.conns.WithTimeout(ctx, s.Host.Timeout)
	defer cancel()
	clients, past := transcript.NewQuery(), transcript.NewPastQuery(dir)
	sections := transport.NewSections()
	sections.Add("clients", clients.Fragment())
	sections.Add("past", past.Fragment())
	if s.pane != nil && s.pane.TTY != "" {
		sections.Add("terminal", terminalFragment(s.pane.TTY))
	}
	res, err := f.conn(s.Host).Run(ctx, transport.Script{Text: sections.Script(), Repeatable: true})
	if err != nil {
		return "", failed(s.Host.Name, "looking for the conversation", err)
	}
	parts, err := sections.Parse(res.Stdout)
	if err != nil {
		return "", failed(s.Host.Name, "looking for the conversation", err)
	}
	w := whose{dir: dir, alone: f.aloneIn(s.Host)}
	if s.pane != nil {
		w.pane, w.note = s.pane.ID, s.pane.Note
	}
	found := clients.Parse(parts["clients"].Out)
	strayed := strings.Fields(string(parts["terminal"].Out))
	for i, c := range found {
		// A client that is left of what up saw crashed in this pane goes when the pane
		// is launched anew: it is as good as gone, and its conversation is the one.
		if c.Alive && slices.Contains(strayed, strconv.Itoa(c.PID)) {
			found[i].Alive, found[i].Pane = false, w.pane
		}
	}
	return pickConversation(found, past.Parse(parts["past"].Out), w), nil
}

// aloneIn tells whether no other host of the table works in the same directory
// of the same machine, as far as the table shows.
func (f *Fleet) aloneIn(h Host) bool {
	for _, o := range f.table.Hosts {
		if o.Name != h.Name && o.endpoint() == h.endpoint() && path.Clean(o.Workdir) == path.Clean(h.Workdir) {
			return false
		}
	}
	return true
}

// remember leaves the id of a session's conversation on its pane, for the time
// when the client that could tell is gone: one that ends in order takes its own
// file with it. It is a help only, so that its failure is nobody's.
func (f *Fleet) remember(ctx context.Context, s seen) {
	if s.pane == nil || s.session == nil || s.session.ID == "" || s.pane.Note == s.session.ID {
		return
	}
	ctx, cancel := f.conns.WithTimeout(ctx, s.Host.Timeout)
	defer cancel()
	_ = tmux.Note(ctx, f.conn(s.Host), s.pane.ID, s.session.ID)
}

// whose says which conversation is looked for: that of a pane, which may have a
// note of it, in a directory that its host has alone or shares.
type whose struct {
	dir, pane, note string
	alone           bool
}

// pickConversation chooses among the conversations that a directory has, newest
// first: the one that the pane's last client names, then the one noted on the
// pane, then the newest. In a directory that hosts share the newest may be
// another's, and none is better than that.
func pickConversation(sessions []transcript.Session, past []string, w whose) string {
	dir, pane := w.dir, w.pane
	taken := map[string]bool{}
	var best *transcript.Session
	for _, c := range sessions {
		if c.Alive {
			taken[c.ID] = true
		}
	}
	for _, c := range sessions {
		if c.Alive || taken[c.ID] || c.Dir != dir || !slices.Contains(past, c.ID) {
			continue
		}
		if best == nil || (c.Pane == pane) != (best.Pane == pane) && c.Pane == pane ||
			(c.Pane == pane) == (best.Pane == pane) && c.Since.After(best.Since) {
			best = &c
		}
	}
	switch {
	case best != nil && best.Pane == pane:
		return best.ID
	case w.note != "" && !taken[w.note] && slices.Contains(past, w.note):
		return w.note
	case !w.alone:
		return ""
	}
	for _, id := range past {
		if !taken[id] {
			return id
		}
	}
	return ""
}
