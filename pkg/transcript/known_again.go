package transcript

import "strings"

// Known is what a later Query for the same machine need not find out again of a
// conversation. Unlike a Session it can be written down and read again.
type Known struct {
	ID   string // of the conversation
	PID  int    // of the client that has it
	Mark string // what its file was like when Tail was read
	// Folder is the name of the project's folder that the file is in; empty when it is
	// not known.
	Folder string
	Tail   []Record
	// Start is that of the client's process, and Line the ids of it and of those that
	// it descends from, see Session.Line; empty when they are not known.
	Start string
	Line  []int
}

// maxMark bounds a mark that was written down; ours have some 130 bytes.
const maxMark = 256

// Known is what is known of the session's conversation; false where that is nothing
// which a later look could go by.
func (s Session) Known() (Known, bool) {
	k := Known{ID: s.ID, PID: s.PID, Mark: s.file.mark, Folder: s.file.folder, Tail: s.Tail, Start: s.start}
	for _, p := range s.Line {
		k.Line = append(k.Line, p.PID)
	}
	return k, s.Alive && k.sound()
}

// Session is one for Query.Knowing. It is false for what can't have been known: it
// goes into a script, and who knows where it has been.
func (k Known) Session() (Session, bool) {
	s := Session{ID: k.ID, PID: k.PID, Alive: true, Tail: k.Tail, file: file{mark: k.Mark, folder: k.Folder}, start: k.Start}
	for _, pid := range k.Line {
		s.Line = append(s.Line, Process{PID: pid})
	}
	return s, k.sound()
}

func (k Known) sound() bool {
	return k.ID != "" && len(k.ID) <= maxMark && safeID(k.ID) == k.ID && k.PID > 0 &&
		k.Mark != "" && len(k.Mark) <= maxMark && strings.Trim(k.Mark, markLetters) == "" && len(k.Start) <= maxMark && len(k.Folder) <= maxMark && (k.Folder == "" || safeFolder(k.Folder)) && len(k.Line) <= maxMark
}

// markLetters are what a mark is made of.
const markLetters = "0123456789\t .:+-"
