package detect

import "strings"

// marks are those of an input line, by glyph: strings are not made anew for each
// look. The screen reader's stands there whole once there is text.
var marks = map[rune]string{'❯': "❯\u00a0", '>': ">\u00a0", '!': "!\u00a0", '#': "#\u00a0", '&': "&\u00a0", '$': "$\u00a0 "}

// stashHints end a row right above the box, or one beneath it, while a draft is
// put aside: 2.1.332, 2.1.202 to 2.1.300, 2.0.76. A narrow 2.1.85 shows none.
var stashHints = [...]string{"draft stashed", "› stashed", "› Stashed (auto-restores after submit)"}

// input is the live input line, if there is one.
func (j *judge) input() Input {
	switch s := &j.screen; {
	case j.have&factBox != 0 && j.have&factWhole != 0 && j.have&factDialog == 0 && j.box.live && j.box.bottom > 0:
		return Input{Mark: marks[s.rows[j.box.glyph].at(0)], Row: j.box.glyph, Stashed: j.stashed(), Queued: j.have&factQueued != 0}
	case j.have&factReader != 0:
		return Input{Mark: marks['$'], Row: s.last}
	}
	return Input{}
}

// stashed tells whether the client says that it keeps a draft.
func (j *judge) stashed() bool {
	says := func(y int) bool {
		for _, hint := range stashHints {
			if strings.HasSuffix(j.rows[y].text, hint) {
				return true
			}
		}
		return false
	}
	if j.box.top > 0 && says(j.box.top-1) {
		return true
	}
	for y := j.box.bottom + 1; y <= j.last; y++ {
		if says(y) {
			return true
		}
	}
	return false
}
