package fleet

import "testing"

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
	}{
		{"nothing to drop", "plain é 漢字", "plain é 漢字"},
		{"zero-width blanks", "a\u200bb\ufeffc\u2060d", "abcd"},
		{"direction marks", "ש\u200fל \u202eevil\u202c", "של evil"},
		{"a soft hyphen", "x\u00ady", "xy"},
		{"a joiner between Latin letters", "a\u200db\u200cc", "abc"},
		{"a joiner in Arabic and Devanagari", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		{"emoji joined", "👩\u200d💻 ❤\ufe0f\u200d🔥 👩🏽\u200d🤝\u200d👨", "👩\u200d💻 ❤\ufe0f\u200d🔥 👩🏽\u200d🤝\u200d👨"},
		{"a joiner behind emoji alone", "😀\u200d!", "😀!"},
		{"selectors behind symbols", "⚠\ufe0f ❤\ufe0e 1\ufe0f\u20e3 ©\ufe0f", "⚠\ufe0f ❤\ufe0e 1\ufe0f\u20e3 ©\ufe0f"},
		{"selectors behind letters", "a\ufe0f 漢\U000e0100 一\ufe00", "a 漢 一"},
		{"a flag's tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"},
		{"tags without a flag", "hi\U000e0068\U000e0069", "hi"},
		{"a mark that is drawn", "\U000110bd1", "\U000110bd1"},
		{"Mongolian", "\u1820\u180b x\u180b", "\u1820\u180b x"},
	} {
		got, dropped := visible(c.in)
		if got != c.want || dropped != len([]rune(c.in))-len([]rune(c.want)) {
			t.Errorf("%s: %+q, %d; want %+q", c.name, got, dropped, c.want)
		}
	}
}
