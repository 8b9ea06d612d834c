package setuptoken

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The terminal is wide enough that an address is not broken into rows.
const (
	cols = 2000
	rows = 60
)

// screen is what a terminal shows, as far as a client that prints from top to
// bottom and goes back to what it printed needs it: no colours, no margins, no
// characters of two cells. The zero value is an empty one. Bytes may come in
// pieces of any size.
type screen struct {
	grid    [rows][]rune
	x, y    int
	pending []byte // the beginning of a sequence or a character
}

// maxPending bounds a sequence that has no end, such as the title of a window.
const maxPending = 64 << 10

func (s *screen) Write(p []byte) {
	s.pending = append(s.pending, p...)
	for len(s.pending) > 0 {
		n := s.next(s.pending)
		if n == 0 {
			if len(s.pending) > maxPending {
				s.pending = nil
			}
			return
		}
		s.pending = s.pending[n:]
	}
}

// next takes one character or sequence and gives its length; 0 where the rest of
// it is still to come.
func (s *screen) next(p []byte) int {
	switch c := p[0]; {
	case c == 0x1b:
		return s.escape(p)
	case c == '\r':
		s.x = 0
	case c == '\n':
		s.feed()
	case c == '\b':
		s.x = max(0, s.x-1)
	case c == '\t':
		s.x = min(cols-1, s.x/8*8+8)
	case c < ' ' || c == 0x7f:
	default:
		if !utf8.FullRune(p) {
			return 0
		}
		r, n := utf8.DecodeRune(p)
		s.put(r)
		return n
	}
	return 1
}

func (s *screen) feed() {
	if s.y++; s.y == rows {
		copy(s.grid[:], s.grid[1:])
		s.grid[rows-1] = nil
		s.y = rows - 1
	}
}

func (s *screen) put(r rune) {
	if s.x >= cols {
		s.x = 0
		s.feed()
	}
	for len(s.grid[s.y]) <= s.x {
		s.grid[s.y] = append(s.grid[s.y], ' ')
	}
	s.grid[s.y][s.x] = r
	s.x++
}

// escape takes a sequence that begins with ESC.
func (s *screen) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				s.control(p[i], string(p[2:i]))
				return i + 1
			}
		}
		return 0
	case ']', 'P', 'X', '^', '_': // a string, to BEL or ESC \
		for i := 2; i < len(p); i++ {
			if p[i] == 7 {
				return i + 1
			}
			if p[i] == 0x1b {
				if i+1 == len(p) {
					return 0
				}
				if p[i+1] == '\\' {
					return i + 2
				}
				return i // another begins
			}
		}
		return 0
	case '(', ')', '*', '+', ' ', '#', '%':
		if len(p) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// control does a control sequence.
func (s *screen) control(final byte, params string) {
	var nums []int
	for word := range strings.SplitSeq(params, ";") {
		n, err := strconv.Atoi(word)
		if err != nil {
			n = 0
		}
		nums = append(nums, min(n, cols))
	}
	arg := func(i, least int) int {
		if i < len(nums) {
			return max(least, nums[i])
		}
		return least
	}
	if params != "" && strings.ContainsAny(params[:1], "?<=>") {
		return // a mode, or a question to the terminal
	}
	switch final {
	case 'A':
		s.y -= arg(0, 1)
	case 'B', 'e':
		s.y += arg(0, 1)
	case 'C', 'a':
		s.x += arg(0, 1)
	case 'D':
		s.x -= arg(0, 1)
	case 'E':
		s.x, s.y = 0, s.y+arg(0, 1)
	case 'F':
		s.x, s.y = 0, s.y-arg(0, 1)
	case 'G', '`':
		s.x = arg(0, 1) - 1
	case 'd':
		s.y = arg(0, 1) - 1
	case 'H', 'f':
		s.y, s.x = arg(0, 1)-1, arg(1, 1)-1
	case 'J':
		s.erase(arg(0, 0), true)
	case 'K':
		s.erase(arg(0, 0), false)
	}
	s.x, s.y = max(0, min(s.x, cols-1)), max(0, min(s.y, rows-1))
}

// erase clears behind the cursor (0), before it (1) or all (2 and 3), of its row
// and where whole says so of the other rows too.
func (s *screen) erase(how int, whole bool) {
	row := s.grid[s.y]
	if how != 0 {
		for x := 0; x < len(row) && (how > 1 || x <= s.x); x++ {
			row[x] = ' '
		}
	}
	if how != 1 && s.x < len(row) {
		s.grid[s.y] = row[:s.x]
	}
	for y := range s.grid {
		if whole && (how > 1 || how == 0 && y > s.y || how == 1 && y < s.y) {
			s.grid[y] = nil
		}
	}
}

// text is the rows that show something, top to bottom, with no blanks around.
func (s *screen) text() []string {
	var all []string
	for _, row := range s.grid {
		if line := strings.TrimSpace(string(row)); line != "" {
			all = append(all, line)
		}
	}
	return all
}
