package transcript

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestPastQuery(t *testing.T) {
	system := `{"type":"system","subtype":"informational","content":"hello","cwd":"/srv/a.b"}` + "\n"
	for _, sh := range posixShells {
		t.Run("sh is "+sh, func(t *testing.T) {
			a := newAccount(t)
			a.sh = sh
			file := func(name, text string, age time.Duration) {
				a.age(a.write("projects/-srv-a-b/"+name+".jsonl", text), age)
			}
			file("0-old", prompt("1", "/srv/a.b", "x"), 3*time.Hour)
			file("0-new", system+prompt("1", "/srv/a.b", "x"), time.Hour)
			file("0-middle", prompt("1", "/srv/a.b", "x")+prompt("2", "/elsewhere", "after cd"), 2*time.Hour)
			file("0-twin", prompt("1", "/srv/a-b", "other directory, same slug"), time.Minute)
			file("0-empty", "", time.Minute)
			file("0-unused", system, time.Minute)
			file("0-cut", `{"type":"user","cwd":"/srv/a.`, time.Minute)
			file("0 $(touch x);'\"", prompt("1", "/srv/a.b", "x"), time.Minute)
			file("-e", prompt("1", "/srv/a.b", "no option"), 4*time.Hour)
			file("0-quotes", prompt("1", "/srv/a.b", `"cwd":"/else" and \"cwd\":\"/else\"`), 5*time.Hour)
			file("new\nline", prompt("1", "/srv/a.b", "x"), time.Minute)
			for dir, want := range map[string][]string{
				"/srv/a.b": {"0-new", "0-middle", "0-old", "-e", "0-quotes"}, "/srv/a-b": {"0-twin"}, "/srv/a_b": nil, "/srv/none": nil, "/srv": nil,
			} {
				q := NewPastQuery(dir)
				if got := q.Parse(a.run(q.Fragment())); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", dir, got, want)
				}
			}
		})
	}
}

// TestPastQueryNames has directories whose name is hard to tell in JSON or in a
// folder's name.
func TestPastQueryNames(t *testing.T) {
	a := newAccount(t)
	long := "/srv/" + strings.Repeat("abcdefghi/", 25)
	for i, dir := range []string{`/srv/q"uo\te`, "/srv/ünï 😀", "/srv/new\nline", "/", "/srv/a,b}", long + "x", long + "y"} {
		folder := Slug(dir)
		if len(folder) > 200 { // as the client names it: measured on 2.1.332
			folder = folder[:200] + "-yhzdy" + strconv.Itoa(i)
		}
		id := "0-" + strconv.Itoa(i)
		a.write("projects/"+folder+"/"+id+".jsonl", prompt("1", dir, "x"))
		q := NewPastQuery(dir)
		if got := q.Parse(a.run(q.Fragment())); !slices.Equal(got, []string{id}) {
			t.Errorf("%q: %q", dir, got)
		}
	}
}

func TestSlug(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/dev/app": "-home-dev-app", "/srv/my_app.v2/α b": "-srv-my-app-v2---b", "/a/b-c": "-a-b-c", "/a/b/c": "-a-b-c", "/😀x": "---x", "/é": "--", "/e\u0301": "-e-", "/AZaz09": "-AZaz09", "": "", "/日本": "---",
	} {
		if got := Slug(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	first, second, third := prompt("1", "/a", "one"), prompt("2", "/a", "two"), prompt("3", "/a", "three")
	all := first + second + third
	noise := `{"type":"attachment","x":1}` + "\n"
	for _, sh := range posixShells {
		a := newAccount(t)
		a.sh = sh
		a.write("projects/-a/0-1.jsonl", noise+all+noise)
		at := int64(len(noise))
		for name, tt := range map[string]struct {
			fragment string
			want     string
		}{
			"from the beginning":  {SinceFragment("0-1", 0), "1 2 3"},
			"negative":            {SinceFragment("0-1", -5), "1 2 3"},
			"after the first":     {SinceFragment("0-1", at+int64(len(first))), "2 3"},
			"within the second":   {SinceFragment("0-1", at+int64(len(first))+1), "3"},
			"before a line feed":  {SinceFragment("0-1", at+int64(len(first)+len(second))-1), "3"},
			"at the end":          {SinceFragment("0-1", at+int64(len(all)+len(noise))), ""},
			"beyond the end":      {SinceFragment("0-1", 1<<40), ""},
			"no such":             {SinceFragment("0-2", 0), ""},
			"hostile":             {SinceFragment("0-1' $(touch x) /../*", 0), ""},
			"glob":                {SinceFragment("*", 0), ""},
			"tail of all":         {TailFragment("0-1", 1<<20), "1 2 3"},
			"tail cuts a record":  {TailFragment("0-1", int64(len(third)+len(noise))+5), "3"},
			"tail is the record":  {TailFragment("0-1", int64(len(third)+len(noise))), "3"},
			"tail below a record": {TailFragment("0-1", int64(len(third)+len(noise))-1), ""},
		} {
			var ids []string
			for _, r := range ParseRecords(a.run(tt.fragment)) {
				ids = append(ids, r.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("sh %q: %s: %q, want %q", sh, name, got, tt.want)
			}
		}
	}
}

// TestSinceBrokenOff has a client that was killed amid a record, whose successor
// writes on behind it: the offset is where its own first record begins.
func TestSinceBrokenOff(t *testing.T) {
	a := newAccount(t)
	before := prompt("1", "/a", "one") + `{"parentUuid":null,"type":"us`
	a.write("projects/-a/0-1.jsonl", before+prompt("2", "/a", "two")+prompt("3", "/a", "three"))
	if got := ParseRecords(a.run(SinceFragment("0-1", int64(len(before))))); len(got) != 2 || got[0].ID != "2" {
		t.Errorf("%+v", got)
	}
	// From elsewhere that line is no record.
	if got := ParseRecords(a.run(SinceFragment("0-1", 0))); len(got) != 2 || got[1].ID != "3" {
		t.Errorf("%+v", got)
	}
}
