package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// wellFormed reads an SVG as a browser would, and fails at what is none.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.HasSuffix(a.Name.Local, "href") && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("<%s> refers to %s", e.Name.Local, a.Value)
				}
			}
			if e.Name.Local == "image" || e.Name.Local == "script" || e.Name.Local == "foreignObject" {
				t.Errorf("it has a <%s>", e.Name.Local)
			}
		}
	}
}

func TestDraw(t *testing.T) {
	frames := []frame{
		{"$ a <b> & 'c'\n  two   words\n", time.Second},
		{"$ a <b> & 'c'\n\x1b[31;7mred\x1b[0m\n", 3 * time.Second},
	}
	svg, err := draw(frames)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg)
	for _, c := range []struct {
		what, text string
		times      int
	}{
		{"a row that two screens have is drawn once", "&lt;b&gt; &amp; ", 1},
		{"and used twice", `<use href="#r0"`, 2},
		{"a word stands in its column", `x="30.8" y="13.5" textLength="25.2"`, 1},
		{"the next word in its own", `x="81.2" y="13.5" textLength="42"`, 1},
		{"what is reversed has a ground", `fill="` + basic[1] + `"`, 1},
		{"and letters of the picture's ground", `style="fill:` + ground + `"`, 1},
		{"the first screen stands from the beginning", "@keyframes k0{0%{visibility:hidden}0.00%{visibility:visible}25.00%{visibility:hidden}}", 1},
		{"the last to the end", "@keyframes k1{0%{visibility:hidden}25.00%{visibility:visible}}", 1},
		{"it alone stands where nothing moves", "visibility:visible;animation:k1", 1},
		{"the others do not", "visibility:hidden;animation:k0", 1},
	} {
		if n := strings.Count(string(svg), c.text); n != c.times {
			t.Errorf("%s: %q is there %d times, not %d\n%s", c.what, c.text, n, c.times, svg)
		}
	}
	again, err := draw(frames)
	if err != nil || string(again) != string(svg) {
		t.Errorf("the same screens are drawn otherwise the next time: %v", err)
	}
	if _, err := draw(nil); err == nil {
		t.Error("no screens are a picture")
	}
	var many []frame
	for i := range 300 {
		many = append(many, frame{strings.Repeat("x", i%80) + "\x1b[1m" + strings.Repeat("y", i/80+1), time.Second})
	}
	if _, err := draw(many); err == nil || !strings.Contains(err.Error(), "fewer screens") {
		t.Errorf("a picture of %d screens: %v", len(many), err)
	}
}

// TestPicture holds the picture of the README to what a README can show: one file,
// of that size at most, that refers to nothing outside.
func TestPicture(t *testing.T) {
	svg, err := os.ReadFile("../../docs/picture.svg")
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg)
	if len(svg) > maxPicture {
		t.Errorf("it has %d bytes", len(svg))
	}
	for _, word := range []string{"@import", "url(", "@font-face"} {
		if strings.Contains(string(svg), word) {
			t.Errorf("it has %s", word)
		}
	}
}
