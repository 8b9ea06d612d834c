package detect

import "slices"

// Explanation is a verdict with all that led to it, for `explain`. Its JSON has
// the verdict's fields and a trace.
type Explanation struct {
	Verdict
	Trace Trace `json:"trace"`
}

// Trace is how Classify came to its verdict.
type Trace struct {
	Regions   []Region  `json:"regions"`
	Facts     []string  `json:"facts"`
	Rules     []Tried   `json:"rules"`     // in the order tried, up to the one that fired
	Witnesses []Witness `json:"witnesses"` // those that had something to say
}

// Region is a part of the screen: its rows, counted from 0, and their text.
type Region struct {
	Name  string   `json:"name"` // history, turn, dialog, viewer, shell, box, prompt or footer
	From  int      `json:"from"`
	To    int      `json:"to"` // the last row, From-1 when it has none
	Lines []string `json:"lines"`
}

// Tried is a rule and what it lacked.
type Tried struct {
	Rule    string   `json:"rule"`
	Fired   bool     `json:"fired"`
	Missing []string `json:"missing,omitempty"` // facts that it needs
	Present []string `json:"present,omitempty"` // facts that it must not have
}

// Witness is what one source beside the screen says.
type Witness struct {
	Name    string `json:"name"`
	Says    string `json:"says"`
	Lowered bool   `json:"lowered"` // whether the verdict changed for it
}

// Explain gives the verdict with all that led to it. It costs more than
// Classify and never differs from it.
func Explain(e Evidence) Explanation {
	var j judge
	var x Explanation
	// Scripts read empty lists, not null.
	x.Trace = Trace{Rules: []Tried{}, Witnesses: []Witness{}}
	j.look(&e)
	x.Verdict = j.decide(&x.Trace)
	if x.Rows == nil {
		x.Rows = []int{}
	}
	x.Trace.Facts = slices.Concat([]string{}, j.have.names())
	x.Trace.Regions = j.regions()
	return x
}
