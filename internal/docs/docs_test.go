package docs

import (
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	const document = "# A\n<!-- generated: one, by make docs -->\nold\n<!-- end: one -->\nrest\n"
	for _, c := range []struct{ name, document, part, want, fails string }{
		{"another text", document, "one", "# A\n<!-- generated: one, by make docs -->\nnew\n<!-- end: one -->\nrest\n", ""},
		{"an empty part", strings.Replace(document, "old\n", "", 1), "one", "# A\n<!-- generated: one, by make docs -->\nnew\n<!-- end: one -->\nrest\n", ""},
		{"no such part", document, "two", "", "begins 0 times"},
		{"no end", strings.Replace(document, "<!-- end: one -->\n", "", 1), "one", "", "ends 0 times"},
		{"twice", document + document, "one", "", "begins 2 times"},
		{"the wrong way round", "<!-- end: one -->\n<!-- generated: one, by make docs -->\n", "one", "", "ends before it begins"},
	} {
		got, err := replace(c.document, c.part, "new\n\n")
		if c.fails == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: the error is %v, not one that says %q", c.name, err, c.fails)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	if got := firstDifference("a\nb\n", "a\nc\n"); !strings.Contains(got, `line 2 is   "b"`) {
		t.Error(got)
	}
	if got := firstDifference("a", "a\nb"); !strings.Contains(got, "1 lines and would have 2") {
		t.Error(got)
	}
}
