package detect

import (
	"math/bits"
	"strings"
)

// decide tries the rules from the top and lets the witnesses lower the result.
// The trace is filled when it is not nil.
func (j *judge) decide(t *Trace) Verdict {
	v := Verdict{State: Unknown, Rule: "none"}
	fired := -1
	for i := range rules {
		r := &rules[i]
		ok := r.fires(j.have)
		if t != nil {
			missing, present := r.lacks(j.have)
			t.Rules = append(t.Rules, Tried{Rule: r.name, Fired: ok, Missing: missing.names(), Present: present.names()})
		}
		if ok {
			fired = i
			break
		}
	}
	if fired >= 0 {
		r := &rules[fired]
		v.State, v.Rule, v.Why = r.state, r.name, r.why
		v.Rows = j.rowsOf((r.must | r.some) & j.have)
	} else {
		near, excluded := j.nearest()
		v.Why = "no rule is sure; " + near
		v.Rows = j.rowsOf(excluded)
	}
	j.details(&v)
	j.lower(&v, t)
	switch v.State {
	case Ready, Busy, Limited, Unauth:
		v.Input = j.input()
	}
	v.Since = since(j.e, v.State)
	if v.State == Ready && j.e.VimMode && !j.insertMode() {
		v.VimNormal = true
		v.Why += "; the client is in vim mode and does not show INSERT, so keys may be commands"
	}
	return v
}

// rowsOf lists the rows on which facts were seen.
func (j *judge) rowsOf(facts fact) []int {
	var rows []int
	for y := range j.rows {
		for f := facts; f != 0; f &= f - 1 {
			if w := j.seen[f.index()]; y >= w[0] && y < w[1] {
				rows = append(rows, y)
				break
			}
		}
	}
	return rows
}

// nearest names the rule that lacked least, among those that had anything to go
// by, and gives the facts that keep it from firing though it needs no more.
func (j *judge) nearest() (string, fact) {
	best, least, most := -1, 0, 0
	for i := range rules {
		r := &rules[i]
		missing, present := r.lacks(j.have)
		lacks := bits.OnesCount64(uint64(missing)) + bits.OnesCount64(uint64(present))
		had := bits.OnesCount64(uint64(r.must & j.have))
		if had > 0 && (best < 0 || lacks < least || lacks == least && had > most) {
			best, least, most = i, lacks, had
		}
	}
	if best < 0 {
		return "nothing on it is known", 0
	}
	missing, present := rules[best].lacks(j.have)
	w := "nearest is " + rules[best].name
	if missing != 0 {
		w += ", which lacks " + strings.Join(missing.names(), ", ")
	}
	if present != 0 {
		w += ", which excludes " + strings.Join(present.names(), ", ")
	}
	return w, present
}

// details fills in what goes with the state that the screen shows.
func (j *judge) details(v *Verdict) {
	v.Draft = j.draft
	if j.have&(factDialog|factSurvey) != 0 && len(j.panel.Options) > 0 && (v.State == Gate || v.State == Limited) && j.have&factSearch == 0 {
		d := j.panel.Dialog
		v.Dialog = &d
	}
	switch v.State {
	case Gate:
		if j.panel.Title != "" {
			v.Why += ": " + clip(j.panel.Title, 60)
		}
	case Busy:
		v.Retry = clip(j.turn.text, 200)
	case Limited:
		if at := j.reset; !at.IsZero() {
			v.ResetAt = &at
		} else {
			v.Why += "; when it resets can't be told from its words: look again later"
		}
		v.AutoResume = j.auto
	case Ready:
		if j.note != "" {
			v.Why += "; " + j.note
		}
		if v.Draft != "" {
			v.Why += "; somebody's draft is in it"
		}
	}
}

// lower lets each witness in turn lower the verdict.
func (j *judge) lower(v *Verdict, t *Trace) {
	for i := range witnesses {
		w := &witnesses[i]
		holds := w.holds(j.e)
		changes := holds && (w.from == "" || w.from == v.State) && w.to != v.State
		if t != nil && holds {
			t.Witnesses = append(t.Witnesses, Witness{Name: w.name, Says: w.why, Lowered: changes})
		}
		if !changes {
			continue
		}
		v.Why = w.why
		if w.from != "" { // a witness that goes before any screen needs no screen's word
			v.Why += "; the screen alone reads " + string(v.State) + " (" + v.Rule + ")"
		}
		v.State, v.Rule = w.to, w.name
		if w.to == Crashed || w.to == Unknown {
			v.Dialog, v.Draft, v.Retry, v.ResetAt, v.AutoResume, v.Rows = nil, "", "", nil, false, nil
		}
		if w.to == Limited {
			if at, _ := resetTime(j.e.Transcript.Text, j.e.Now, j.e.Zone, j.e.Transcript.At); !at.IsZero() {
				v.ResetAt = &at
			}
		}
	}
}

// insertMode reports whether the footer marks vim's INSERT mode.
func (j *judge) insertMode() bool {
	if j.have&factWhole == 0 {
		return false
	}
	for y := j.box.bottom + 1; y <= j.last; y++ {
		if strings.HasPrefix(j.rows[y].body(), "-- INSERT") {
			return true
		}
	}
	return false
}
