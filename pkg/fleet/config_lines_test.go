package fleet

import (
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestKeyLines(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{"# a = 1\n\n", nil},
		{"a = 1", []int{1}},
		{"\n[a]\nb = 1 # c = 2\nd.e = 2\r\n\r\n[[x]]\n[ y . 'z]' ]\n", []int{2, 3, 4, 6, 7}},
		{"'a=b' = 1\n\"c\\\"=\" = 2\n\"\".'' = 3\n", []int{1, 2, 3}},
		{"a = '# no'\nb = \"x = 1\\\" # ]\"\nc = 1\n", []int{1, 2, 3}},
		{"a = '''\nb = 1\n'' '''\nc = \"\"\"\n\\\"\"\"\n[d]\\\n\"\"\"\ne = 1\n", []int{1, 4, 8}},
		{"a = \"\"\"x\"\"\"\"\"\nb = ''''x'''''\nc = \"\"\nd = ''\ne=1", []int{1, 2, 3, 4, 5}},
		{"a = [\n 'b = 1', # c = 1\n [1, 2],\n]\nd = 1\n", []int{1, 5}},
		{"a = {b = 1, 'c' = {d.e = [2]}}\nf = 1\n", []int{1, 1, 1, 1, 2}},
		{"a = [{b = 1},\n {c = 1, d = 2}\n]\n", []int{1, 1, 2, 2}},
		{"a = {b = \"\"\"x\"\"\"\", c = 1, c2 = 1}\nd = {e = 'x\\', f = 1, f2 = 1}\n", []int{1, 1, 1, 1, 2, 2, 2, 2}},
		{"a = {\n b = 1, # c\n c = '''\n''', d = 1}\n", []int{1, 2, 3, 4}},
		{"a = 1979-05-27 07:32:00\nb = [1979-05-27 07:32:00, 1]\nc = {d = 07:32:00}\n", []int{1, 2, 3, 3}},
	} {
		got, _, f := keyLines(test.text)
		if f != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: got %v %v, want %v", test.text, got, f, test.want)
		}
		var tree map[string]any
		meta, err := toml.Decode(test.text, &tree)
		if err != nil {
			t.Errorf("%q is no TOML: %v", test.text, err)
		} else if len(meta.Keys()) != len(test.want) {
			t.Errorf("%q: TOML has the keys %v", test.text, meta.Keys())
		}
	}
}

func TestKeyLinesLimits(t *testing.T) {
	deep := func(n int) string {
		return "\na = " + strings.Repeat("[", n) + strings.Repeat("]", n)
	}
	parts := func(n int) string { return "\n" + strings.Repeat("a.", n-1) + "a = 1" }
	for _, test := range []struct {
		text string
		line int // of the fault; 0 for none
	}{
		{deep(maxNesting), 0},
		{deep(maxNesting + 1), 2},
		{"\na = " + strings.Repeat("{a=", 1<<18), 2},
		{"\na = " + strings.Repeat("[", 1<<20), 2},
		{parts(maxKeyParts), 0},
		{parts(maxKeyParts + 1), 2},
		{"[" + strings.Repeat("a.", 1<<19) + "a]", 1},
		{"a = {" + strings.Repeat("a.", maxKeyParts) + "a = 1}", 1},
	} {
		if _, line, f := keyLines(test.text); line != test.line || (f != nil) != (test.line != 0) {
			t.Errorf("%.40q: line %d, %v, want %d", test.text, line, f, test.line)
		}
	}
}

// FuzzKeyLines holds the scanner against the TOML package: one line for each of
// its keys, and the key is on that line.
func FuzzKeyLines(f *testing.F) {
	for _, seed := range []string{
		"[a]\nb = 1\n", "a = {\n b = 1, c.d = ['''\n'''] }\n[[x.'y']]\n", "a = \"\"\"\\\"\"\"\"\"\"\n\"b\" = 1", "a = [ # ]\n{x=1},\n]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkText(&problems{}, []byte(text)) != text {
			return
		}
		lines, _, fault := keyLines(text)
		if fault != nil {
			return
		}
		var tree map[string]any
		meta, err := toml.Decode(text, &tree)
		if err != nil {
			return
		}
		keys := meta.Keys()
		if len(lines) != len(keys) {
			t.Fatalf("%d lines for the keys %v", len(lines), keys)
		}
		all := strings.Split(text, "\n")
		for i, key := range keys {
			last := key[len(key)-1]
			if tomlKey(last) == last && !strings.Contains(all[lines[i]-1], last) && !strings.Contains(all[lines[i]-1], `\`) {
				t.Errorf("%v is not on line %d", key, lines[i])
			}
		}
	})
}
