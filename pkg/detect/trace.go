package detect

import "strings"

// Trace is how Classify came to its verdict, for `explain`.
type Trace struct {
	Regions   []Region  `json:"regions"`
	Facts     []string  `json:"facts"`
	Rules     []Tried   `json:"rules"`     // in the order tried, up to the one that fired
	Witnesses []Witness `json:"witnesses"` // those that had something to say
}

// Region is a part of the screen: its rows, counted from 0, and their text.
type Region struct {
	Name  string   `json:"name"` // history, turn, dialog, box, footer
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
func Explain(e Evidence) (Verdict, Trace) {
	var j judge
	var t Trace
	j.look(&e)
	v := j.decide(&t)
	t.Facts = j.have.names()
	t.Regions = j.regions()
	return v, t
}

// regions cuts the screen into its parts, top to bottom.
func (j *judge) regions() []Region {
	s := &j.screen
	var rs []Region
	add := func(name string, from, to int) {
		if to < from {
			return
		}
		r := Region{Name: name, From: from, To: to}
		for y := from; y <= to && y < len(s.rows); y++ {
			r.Lines = append(r.Lines, printable(s.rows[y].text))
		}
		rs = append(rs, r)
	}
	if s.last < 0 {
		return nil
	}
	end := s.last
	switch {
	case j.have&factBox != 0 && j.box.bottom > 0:
		end = j.box.top - 1
	case j.have&factDialog != 0:
		end = j.panel.top - 1
	}
	turn := end + 1
	for _, y := range [...]int{j.turn.spinner, j.turn.retry, j.turn.event} {
		if y >= 0 && y < turn && j.turn != (turnZero) {
			turn = y
		}
	}
	add("history", 0, turn-1)
	add("turn", turn, end)
	switch {
	case j.have&factBox != 0 && j.box.bottom > 0:
		add("box", j.box.top, j.box.bottom)
		add("footer", j.box.bottom+1, s.last)
	case j.have&factDialog != 0:
		add("dialog", j.panel.top, s.last)
	}
	return rs
}

var turnZero turn

// printable drops what could act on a terminal; x/ansi has taken the escapes.
func printable(t string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, t)
}
