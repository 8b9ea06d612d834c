package fleet

import (
	"context"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// stashKey puts the draft in the client's box aside, whole, with its lines and
// pasted texts; in an empty box it puts it back. The client puts it back by itself
// right when the next prompt is submitted (2.0.76 to 2.1.332). A second draft
// would take the first one's place for good.
const stashKey = "C-s"

// stash puts somebody's draft aside.
func (s *sending) stash(ctx context.Context, look seen) error {
	name := s.h.Name
	refuse := func(msg, hint string) error {
		return &Error{Class: ClassRefused, Host: name, State: look.State, Rule: look.Rule, Msg: "not sent: " + msg + "; nothing was typed", Hint: hint}
	}
	first, _, _ := strings.Cut(s.prompt.text, "\n")
	theirs, _, _ := strings.Cut(look.Draft, "\n")
	switch {
	case look.Input.Stashed:
		return refuse("a draft is in the input box and another is put aside, which the client would lose", "finish one of them with: claude-fleet attach "+name)
	case look.Input.Mark[0] == '!' || strings.HasPrefix(look.Draft, "!"):
		return refuse("a shell command is in the input box, which can't be put aside", "finish it with: claude-fleet attach "+name)
	case strings.HasPrefix(solid(first), solid(theirs)) || strings.HasPrefix(solid(theirs), solid(first)):
		// What is put back would look like a prompt that was not taken.
		return refuse("the draft in the input box begins as the prompt does", "submit or drop it with: claude-fleet attach "+name)
	}
	now, err := s.step(ctx, look, "stash", stashKey, func(now seen) bool { return now.Draft == "" && now.Input.Stashed })
	if now.Draft != look.Draft || now.Input.Stashed {
		s.out.Draft = look.Draft
	}
	if err != nil {
		s.unstash(ctx)
	}
	return err
}

// unstash puts the draft back after a send that came to nothing. Failing that,
// it says so: the client keeps the draft and puts it back with the next prompt.
func (s *sending) unstash(ctx context.Context) {
	if !s.did["stash"] || s.did["unstash"] {
		return
	}
	const still = "the draft is still put aside; the client puts it back with the next prompt, or at Ctrl+S in the empty box"
	ctx, cancel := s.f.conns.WithTimeout(context.WithoutCancel(ctx), stepWait)
	defer cancel()
	for range keyTries {
		look := s.f.probeOne(ctx, s.h)
		if look.Err != nil || look.State != detect.Ready && look.State != detect.Busy {
			break
		}
		if look.Draft != "" {
			return // it is back, or somebody types
		}
		now, err := s.step(ctx, look, "unstash", stashKey, func(now seen) bool { return now.Draft != "" })
		if err != nil {
			break
		}
		if now.Draft != "" {
			return
		}
	}
	s.warn(still)
}

// restored holds the client to its putting the draft back.
func (s *sending) restored(ctx context.Context) {
	if !s.did["stash"] {
		return
	}
	ctx, cancel := s.f.conns.WithTimeout(ctx, stepWait)
	defer cancel()
	for {
		if now := s.f.probeOne(ctx, s.h); now.Err == nil && now.Draft != "" {
			return
		}
		if !wait(ctx, pause) {
			break
		}
	}
	s.warn("the draft that was put aside is not back in the input box; it was: " + cut(neutral(s.out.Draft), 400))
}
