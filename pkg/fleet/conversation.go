package fleet

import (
	"context"
	"path"
	"slices"
	"strings"

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

// lastConversation finds the conversation that the client of a pane had before
// it went; empty when there is none. The file of a client that was killed stays
// and names its pane; where a later client removed it, the newest conversation
// of the directory that no running client has is the one.
func (f *Fleet) lastConversation(ctx context.Context, s seen) (string, error) {
	dir := s.home
	if dir == "" {
		return "", nil
	}
	clients, past := transcript.NewQuery(), transcript.NewPastQuery(dir)
	sections := transport.NewSections()
	sections.Add("clients", clients.Fragment())
	sections.Add("past", past.Fragment())
	res, err := f.conn(s.Host).Run(ctx, transport.Script{Text: sections.Script(), Repeatable: true})
	if err != nil {
		return "", failed(s.Host.Name, "looking for the conversation", err)
	}
	parts, err := sections.Parse(res.Stdout)
	if err != nil {
		return "", failed(s.Host.Name, "looking for the conversation", err)
	}
	paneID := ""
	if s.pane != nil {
		paneID = s.pane.ID
	}
	return pickConversation(clients.Parse(parts["clients"].Out), past.Parse(parts["past"].Out), dir, paneID), nil
}

// pickConversation chooses among the conversations that a directory has, newest
// first.
func pickConversation(sessions []transcript.Session, past []string, dir, pane string) string {
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
	if best != nil && best.Pane == pane {
		return best.ID
	}
	for _, id := range past {
		if !taken[id] {
			return id
		}
	}
	return ""
}
