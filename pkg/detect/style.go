package detect

import "github.com/charmbracelet/x/ansi"

// colour is a packed colour: 0 is the terminal's default, else the kind in the
// top byte and the palette index or RGB value below it.
type colour uint32

const (
	colourDefault colour = 0
	colourIndexed colour = 1 << 24
	colourRGB     colour = 2 << 24
)

// Attribute bits of a cell.
const (
	attrBold uint8 = 1 << iota
	attrDim
	attrItalic
	attrReverse
)

// style is how a cell is drawn, reduced to what rules look at.
type style struct {
	fg, bg colour
	attrs  uint8
}

func (s style) has(a uint8) bool { return s.attrs&a != 0 }

// muted reports whether the cell is greyer than ordinary text: dim, or a
// neutral colour. The grey differs by theme and depth (246, 241, 153;153;153),
// so no number is asked for.
func (s style) muted() bool {
	return s.has(attrDim) || (s.fg != colourDefault && s.fg.neutral())
}

// vivid reports whether the cell has a colour that is not a grey.
func (s style) vivid() bool { return s.fg != colourDefault && !s.fg.neutral() }

// neutral reports whether a colour is black, a grey or white.
func (c colour) neutral() bool {
	switch c &^ 0xffffff {
	case colourIndexed:
		n := c & 0xff
		if n >= 232 || n == 0 || n == 7 || n == 8 || n == 15 {
			return true
		}
		if n < 16 {
			return false
		}
		n -= 16 // the 6x6x6 cube: its diagonal is grey
		return n/36 == n/6%6 && n/6%6 == n%6
	case colourRGB:
		r, g, b := int(c>>16&0xff), int(c>>8&0xff), int(c&0xff)
		return max(r, g, b)-min(r, g, b) <= 12
	}
	return false
}

// apply changes the style as an SGR sequence's parameters say. Unknown ones
// are passed over.
func (s *style) apply(ps ansi.Params) {
	if len(ps) == 0 {
		*s = style{}
		return
	}
	for i := 0; i < len(ps); i++ {
		n := ps[i].Param(0)
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.attrs |= attrBold
		case n == 2:
			s.attrs |= attrDim
		case n == 3:
			s.attrs |= attrItalic
		case n == 7:
			s.attrs |= attrReverse
		case n == 22:
			s.attrs &^= attrBold | attrDim
		case n == 23:
			s.attrs &^= attrItalic
		case n == 27:
			s.attrs &^= attrReverse
		case n >= 30 && n <= 37:
			s.fg = colourIndexed | colour(n-30)
		case n >= 90 && n <= 97:
			s.fg = colourIndexed | colour(n-90+8)
		case n >= 40 && n <= 47:
			s.bg = colourIndexed | colour(n-40)
		case n >= 100 && n <= 107:
			s.bg = colourIndexed | colour(n-100+8)
		case n == 39:
			s.fg = colourDefault
		case n == 49:
			s.bg = colourDefault
		case n == 38 || n == 48 || n == 58:
			c, used := extended(ps[i:])
			switch n {
			case 38:
				s.fg = c
			case 48:
				s.bg = c
			}
			i += used
			continue
		}
		for i+1 < len(ps) && ps[i].HasMore() { // sub-parameters of ours, such as 4:3
			i++
		}
	}
}

// extended reads 38;5;N, 38;2;R;G;B and their colon forms, and says how many
// parameters after the first belong to it.
func extended(ps ansi.Params) (colour, int) {
	at := func(i int) colour {
		if i < len(ps) {
			return colour(ps[i].Param(0)) & 0xff
		}
		return 0
	}
	switch at(1) {
	case 5:
		return colourIndexed | at(2), min(2, len(ps)-1)
	case 2:
		used := 4
		first := 2
		// 38:2::R:G:B has an empty colour space before the components.
		if len(ps) > 5 && ps[1].HasMore() && ps[4].HasMore() {
			first, used = 3, 5
		}
		return colourRGB | at(first)<<16 | at(first+1)<<8 | at(first+2), min(used, len(ps)-1)
	}
	return colourDefault, min(1, len(ps)-1)
}
