package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Mark is what of a status counts when it is compared with a later one. It is
// small and safe to keep: nothing that the host's screen said is in it.
type Mark struct {
	State detect.State `json:"state"`
	// Reason is Status.Reason. That a dead machine is given up on for one reason
	// now and for another then is no change, but that only a person can mend it is.
	Reason string   `json:"reason"`
	Flags  []string `json:"flags"`
	// Dialog is a fingerprint of the dialog's title and labels, empty without one:
	// the next dialog is news although the state is the same.
	Dialog string    `json:"dialog"`
	At     time.Time `json:"at"` // when it was seen, by this machine's clock
}

// Mark is what of s counts when it is compared with a later look. at is when s was
// seen, by this machine's clock.
func (s Status) Mark(at time.Time) Mark {
	m := Mark{State: s.State, Reason: s.Reason, Flags: append([]string{}, s.Flags...), At: at}
	slices.Sort(m.Flags)
	if s.Dialog != nil {
		// Somebody who is at it may tick boxes: it is the same dialog still.
		said := []string{strings.ReplaceAll(s.Dialog.Title, "☒", "☐")}
		for _, o := range s.Dialog.Options {
			said = append(said, bare(o))
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%q", said))
		m.Dialog = hex.EncodeToString(sum[:8])
	}
	return m
}

// Same tells whether two marks of a host tell a person the same.
func (m Mark) Same(o Mark) bool {
	switch {
	case m.State != o.State:
		return false
	case m.State == detect.Unreachable:
		return mendsItself(m.Reason) == mendsItself(o.Reason)
	}
	return m.Dialog == o.Dialog && slices.Equal(m.Flags, o.Flags)
}

// NeedsPerson is what Status.NeedsPerson said.
func (m Mark) NeedsPerson() bool {
	return Status{Verdict: detect.Verdict{State: m.State}}.NeedsPerson()
}

// StatusChange is a host whose status tells another thing than before.
type StatusChange struct {
	// ID is the same whenever this change is told, so that a receiver that is told
	// twice (whoever told it was killed before he could note that he had) can know.
	ID     string
	Was    *Mark     // nil: the host was not seen before
	At     time.Time // by this machine's clock
	Status Status
}

// changeJSON is the form that scripts read. Fields are only ever added.
type changeJSON struct {
	ID          string    `json:"id"`
	At          time.Time `json:"at"`
	Host        string    `json:"host"`
	NeedsPerson bool      `json:"needs_person"`
	Was         *Mark     `json:"was"`
	Status      Status    `json:"status"`
}

// MarshalJSON writes the change as one object, in which every key is always there.
// What a terminal might obey is escaped, since it will be read there.
func (c StatusChange) MarshalJSON() ([]byte, error) {
	out, err := json.Marshal(changeJSON{c.ID, c.At, c.Status.Host.Name, c.NeedsPerson(), c.Was, c.Status})
	return []byte(transport.EscapeJSON(string(out))), err
}

// NeedsPerson tells whether the host needs a person now.
func (c StatusChange) NeedsPerson() bool { return c.Status.NeedsPerson() }

// ConcernsPerson tells whether the host needs a person now or did before: the
// changes that are worth waking somebody for, and those that call it off.
func (c StatusChange) ConcernsPerson() bool {
	return c.NeedsPerson() || c.Was != nil && c.Was.NeedsPerson()
}

// Marks has what was last known of hosts, by label. It is not safe for concurrent
// use.
type Marks map[string]Mark

// Change compares a status with what is marked for its host. A host that is not
// marked counts as changed only if it needs a person, so that the first look at a
// fleet that is well tells nothing. at is when s was seen, by this machine's clock.
func (m Marks) Change(s Status, at time.Time) (c StatusChange, changed bool) {
	now := s.Mark(at)
	c = StatusChange{At: at, Status: s}
	defer func() { c.ID = changeID(s, c.Was, now) }()
	was, ok := m[s.Host.Name]
	if ok {
		c.Was = &was
	}
	if ok && now.Same(was) || !ok && !s.NeedsPerson() {
		return c, false
	}
	return c, true
}

// changeID goes by what was and what is, since when by the host's word, and not by
// when it was seen again.
func changeID(s Status, was *Mark, now Mark) string {
	now.At = time.Time{}
	var since time.Time
	if s.Since != nil {
		since = s.Since.UTC().Truncate(time.Second)
	}
	text, _ := json.Marshal([]any{s.Host.Name, was, now, since}) // of strings and times: can't fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Note marks what is known of the host of s now, and tells whether that is news.
func (m Marks) Note(s Status, at time.Time) bool {
	now := s.Mark(at)
	was, ok := m[s.Host.Name]
	same := ok && was.Same(now)
	if same {
		now.At = was.At // when it was first seen so
	}
	m[s.Host.Name] = now
	return !same
}
