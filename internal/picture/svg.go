package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// The measures of the picture, in its own units. A font that is wider or narrower
// than cellWidth is stretched to it, so that columns stand whatever font there is.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	margin     = 14.0
	baseline   = 13.5 // of a row, below its top
)

const (
	ground  = "#0d1117" // behind the text
	letters = "#e6edf3" // where a program sets no colour
)

// maxPicture is what the picture may weigh, in bytes: the README shows it to
// whoever opens the page.
const maxPicture = 60_000

// drawing collects rows, each drawn once however many screens have it.
type drawing struct {
	ids  map[string]int
	defs strings.Builder
}

// draw makes one animated SVG of the screens. Where nothing moves (a program
// without CSS animations, a reader who wants less motion) the last screen stands.
func draw(frames []frame) ([]byte, error) {
	if len(frames) == 0 {
		return nil, fmt.Errorf("there are no screens to draw")
	}
	total := time.Duration(0)
	for _, f := range frames {
		total += f.length
	}
	d := &drawing{ids: map[string]int{}}
	var css, body strings.Builder
	at := time.Duration(0)
	for i, f := range frames {
		still := "hidden"
		if i == len(frames)-1 {
			still = "visible"
		}
		// step-end holds each value up to the next: no screen fades into another.
		fmt.Fprintf(&css, "#s%d{visibility:%s;animation:k%d %.1fs step-end infinite}\n@keyframes k%d{0%%{visibility:hidden}%s%s}\n",
			i, still, i, total.Seconds(), i, key(at, total, "visible"), key(at+f.length, total, "hidden"))
		fmt.Fprintf(&body, "<g id=\"s%d\">%s</g>\n", i, d.screen(readScreen(f.screen)))
		at += f.length
	}
	svg := d.page(css.String(), body.String())
	if len(svg) > maxPicture {
		return nil, fmt.Errorf("the picture has %d bytes, over %d: show fewer screens", len(svg), maxPicture)
	}
	return svg, nil
}

// key is one value in a list of keyframes; the end of the last needs none, since
// the first begins there.
func key(at, total time.Duration, visibility string) string {
	if at >= total {
		return ""
	}
	return fmt.Sprintf("%.2f%%{visibility:%s}", 100*at.Seconds()/total.Seconds(), visibility)
}

func (d *drawing) page(css, body string) []byte {
	var b bytes.Buffer
	w, h := stageCols*cellWidth+2*margin, stageRows*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="A terminal in which claude-fleet drives three hosts">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:%s}
.b{font-weight:bold}.i{font-style:italic}.d{opacity:.6}
%s@media (prefers-reduced-motion:reduce){g{animation:none!important}}
</style>
<defs>
%s</defs>
<rect x=".5" y=".5" width="%.0f" height="%.0f" rx="8" fill="%s" stroke="#57606a"/>
%s</svg>
`, w, h, w, h, letters, css, d.defs.String(), w-1, h-1, ground, body)
	return b.Bytes()
}

// screen refers to the rows of a screen, which are drawn if they are new.
func (d *drawing) screen(rows [][]span) string {
	var b strings.Builder
	for i, row := range rows {
		drawn := drawRow(row)
		if drawn == "" {
			continue
		}
		id, ok := d.ids[drawn]
		if !ok {
			id = len(d.ids)
			d.ids[drawn] = id
			fmt.Fprintf(&d.defs, "<g id=\"r%d\">%s</g>\n", id, drawn)
		}
		fmt.Fprintf(&b, `<use href="#r%d" y="%.0f"/>`, id, margin+float64(i)*cellHeight)
	}
	return b.String()
}

// drawRow draws the spans of a row: their grounds, then their texts. Blank cells
// with no ground of their own are not drawn. A text ends where two blanks stand, so
// that no column hangs on how a program treats them.
func drawRow(row []span) string {
	var grounds, texts strings.Builder
	col := 0
	for _, r := range row {
		fg, bg := r.fg, r.bg
		if r.reversed {
			fg, bg = orElse(bg, ground), orElse(fg, letters)
		}
		if bg != "" {
			fmt.Fprintf(&grounds, `<rect x="%s" width="%s" height="%.0f" fill="%s"/>`, num(margin+float64(col)*cellWidth), num(float64(r.cells)*cellWidth), cellHeight, bg)
		}
		at := col
		for part := range strings.SplitSeq(r.text, "  ") {
			word := strings.TrimLeft(part, " ")
			at += len(part) - len(word)
			word = strings.TrimRight(word, " ")
			if cells := ansi.StringWidth(word); cells > 0 {
				fmt.Fprintf(&texts, `<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"%s>%s</text>`,
					num(margin+float64(at)*cellWidth), num(baseline), num(float64(cells)*cellWidth), attributes(r, fg), escape(word))
			}
			at += ansi.StringWidth(strings.TrimLeft(part, " ")) + 2
		}
		col += r.cells
	}
	return grounds.String() + texts.String()
}

func attributes(r span, fg string) string {
	var classes []string
	for _, c := range []struct {
		class string
		on    bool
	}{{"b", r.bold}, {"i", r.italic}, {"d", r.dim}} {
		if c.on {
			classes = append(classes, c.class)
		}
	}
	s := ""
	if len(classes) > 0 {
		s = ` class="` + strings.Join(classes, " ") + `"`
	}
	if fg != "" {
		s += ` style="fill:` + fg + `"`
	}
	return s
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// num writes a measure without the noughts behind its point.
func num(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.String()
}

// writeStills writes each screen as a picture of its own.
func writeStills(folder string, frames []frame) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i, f := range frames {
		d := &drawing{ids: map[string]int{}}
		body := d.screen(readScreen(f.screen))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.svg", i)), d.page("", body), 0o644); err != nil {
			return err
		}
	}
	return nil
}
