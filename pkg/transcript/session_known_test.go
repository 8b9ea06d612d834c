package transcript

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// texts are what the tail of a session says.
func (s Session) texts() string {
	var all []string
	for _, r := range s.Tail {
		all = append(all, r.Text())
	}
	return strings.Join(all, " ")
}

// TestQueryKnowing looks a second time, with and without what the first look found:
// both find the same, and a conversation is read again only where its file has
// changed.
func TestQueryKnowing(t *testing.T) {
	me, start := os.Getpid(), startOf(t, os.Getpid())
	client := "sessions/" + strconv.Itoa(me) + ".json"
	const file = "projects/-a/0a-1.jsonl"
	old := time.Now().Add(-time.Hour)
	// over writes a file as it was, by its time, in place or as a new one.
	over := func(a *account, name, text string, anew bool) {
		to := a.path(name)
		if anew {
			name = "projects/other.new"
		}
		path := a.write(name, text)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if anew {
			if err := os.Rename(path, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(a *account)
		want   string // the texts that are found
		read   bool   // they are read
		// apart is what a look in place finds instead: not what is newer elsewhere.
		apart string
	}{
		"nothing":                   {func(*account) {}, "one", false, ""},
		"the client's status":       {func(a *account) { a.write(client, strings.Replace(sample(t, me, "0a-1", start), "idle", "busy", 1)) }, "one", false, ""},
		"appended to":               {func(a *account) { a.write(file, prompt("1", "/a", "one")+prompt("2", "/a", "two")) }, "one two", true, ""},
		"shorter, of the same time": {func(a *account) { over(a, file, prompt("1", "/a", "1"), false) }, "1", true, ""},
		"as long, of the same time": {func(a *account) { over(a, file, prompt("1", "/a", "ten"), false) }, "ten", true, ""},
		"another file, the same":    {func(a *account) { over(a, file, prompt("1", "/a", "one"), true) }, "one", true, ""},
		"another file, as long":     {func(a *account) { over(a, file, prompt("1", "/a", "ten"), true) }, "ten", true, ""},
		"touched":                   {func(a *account) { a.age(a.path(file), time.Minute) }, "one", true, ""},
		"a newer one in a folder":   {func(a *account) { a.write("projects/-b/0a-1.jsonl", prompt("1", "/b", "live")) }, "live", true, "one"},
		"an older one in a folder":  {func(a *account) { a.age(a.write("projects/-b/0a-1.jsonl", prompt("1", "/b", "stale")), 2*time.Hour) }, "one", false, ""},
		"moved":                     {func(a *account) { a.mkdir("projects/-c"); a.rename(file, "projects/-c/0a-1.jsonl") }, "one", true, ""},
		"gone":                      {func(a *account) { a.rename(file, "projects/-a/other") }, "", false, ""},
		"another conversation": {func(a *account) {
			a.write(client, sample(t, me, "0a-2", start))
			a.write("projects/-a/0a-2.jsonl", prompt("2", "/a", "two"))
		}, "two", true, ""},
		"another, with nothing said": {func(a *account) { a.write(client, sample(t, me, "0a-2", start)) }, "", false, ""},
		"the client has ended":       {func(a *account) { a.write(client, sample(t, me, "0a-1", "1")) }, "", false, ""},
		"the file is half written":   {func(a *account) { a.write(client, `{"pid":`+strconv.Itoa(me)+`,"sessionId":"0a-1","procS`) }, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kit := range []string{"", "busybox sh/busybox awk", "dash/awk/stat", "bash/awk"} {
				if !installed(kit) {
					continue
				}
				a := newAccount(t)
				a.uses(kit)
				a.write(client, sample(t, me, "0a-1", start))
				over(a, file, prompt("1", "/a", "one"), false)
				look := func(q Query) ([]Session, bool) {
					out := a.run(q.Fragment())
					return q.Parse(out), strings.Contains(string(out), q.nonce+" tail ")
				}
				first, read := look(NewQuery())
				if len(first) != 1 || first[0].texts() != "one" || !read {
					t.Fatalf("%s: at first %+v", kit, first)
				}
				tt.change(a)
				plain, _ := look(NewQuery())
				again, read := look(NewQuery().Knowing(first))
				if !reflect.DeepEqual(plain, again) {
					t.Errorf("%s: with what is known\n%+v\nwithout\n%+v", kit, again, plain)
				}
				inPlace, _ := look(NewQuery().Knowing(first).InPlace())
				if tt.apart != "" && kit != "dash/awk/stat" { // which knows no file again
					if len(inPlace) != 1 || inPlace[0].texts() != tt.apart {
						t.Errorf("%s: in place %+v, want %q", kit, inPlace, tt.apart)
					}
				} else if !reflect.DeepEqual(plain, inPlace) {
					t.Errorf("%s: in place\n%+v\nwithout\n%+v", kit, inPlace, plain)
				}
				texts := ""
				for _, s := range again {
					texts += s.texts()
				}
				if want := tt.read; texts != tt.want || read != want && kit != "dash/awk/stat" {
					t.Errorf("%s: %q, read: %v; want %q, %v", kit, texts, read, tt.want, want)
				}
				if strange, _ := look(NewQuery().Knowing([]Session{{ID: "0f-9", file: file0()}, {ID: "0a-1", Tail: []Record{{}}, file: file0()}, {ID: "'; touch pwned; '", file: file0()}})); !reflect.DeepEqual(plain, strange) {
					t.Errorf("%s: with another machine's\n%+v\nwithout\n%+v", kit, strange, plain)
				}
			}
		})
	}
}

// TestQueryEmptyEnd has the end of a conversation come without a record, as where a
// program could not be started: that is not remembered. Its twin has one.
func TestQueryEmptyEnd(t *testing.T) {
	for text, want := range map[string]int{"": 0, prompt("1", "/a", "one"): 1} {
		q := NewQuery()
		n := q.nonce
		got := q.Parse([]byte(n + "\tfile\t9\t1\t2\t3\t4\t/p/0a-1.jsonl\n" + n + " session 7 alive\n{\"pid\":7,\"sessionId\":\"0a-1\"}\n" + n + " tail 0a-1\n" + text))
		if len(got) != 1 || len(got[0].Tail) != want || got[0].Size != 9 || len(q.Knowing(got).known) != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func file0() file { return file{size: 1, mark: "1\t2\t3\t4\t5"} }

// TestQueryPrograms counts the programs that a look starts: as many for one client as
// for several.
func TestQueryPrograms(t *testing.T) {
	self := []int{os.Getpid(), os.Getppid(), 1}
	for _, clients := range [][]int{self[:1], self} {
		a := newAccount(t)
		a.sh = "dash"
		for _, pid := range clients {
			id := "0a-" + strconv.Itoa(pid)
			a.write("sessions/"+strconv.Itoa(pid)+".json", sample(t, pid, id, startOf(t, pid)))
			a.write("projects/-a/"+id+".jsonl", prompt("1", "/a", "text of "+id))
		}
		a.write("sessions/999999999.json", sample(t, 999999999, "0a-dead", "1"))
		a.write("projects/-a/0a-dead.jsonl", prompt("1", "/a", "dead"))
		dir := t.TempDir()
		for _, name := range []string{"awk", "stat", "tail", "ls", "wc", "head", "cat", "grep", "sed", "tr", "ps"} {
			writeProgram(t, filepath.Join(dir, name), "#!/bin/sh\necho "+name+" >>"+dir+"/ran\nPATH=/usr/local/bin:/usr/bin:/bin\nexec "+name+` "$@"`+"\n")
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		var last []Session
		for i, want := range []string{"awk awk stat tail", "awk stat"} {
			q := NewQuery().Knowing(last)
			last = q.Parse(a.run(q.Fragment()))
			ran, err := os.ReadFile(filepath.Join(dir, "ran"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "ran")); err != nil {
				t.Fatal(err)
			}
			programs := strings.Fields(string(ran))
			slices.Sort(programs)
			if got := strings.Join(programs, " "); got != want {
				t.Errorf("%d clients, look %d: %s, want %s", len(clients), i+1, got, want)
			}
			for _, s := range last {
				want := "text of " + s.ID
				if s.ID == "0a-dead" {
					want = ""
				}
				if s.texts() != want {
					t.Errorf("%d clients, look %d: %s says %q", len(clients), i+1, s.ID, s.texts())
				}
			}
			if len(last) != len(clients)+1 {
				t.Errorf("%d sessions", len(last))
			}
		}
	}
}

// TestQueryHeaders has conversations with lines that look like what tail prints
// between two files: nobody gets what another has said.
func TestQueryHeaders(t *testing.T) {
	me, parent := os.Getpid(), os.Getppid()
	for name, forged := range map[string]string{"none": "", "its own": "0a-1", "the next one's": "0a-2", "none of them": "0a-3", "the end": "end", "both": "both"} {
		for _, kit := range []string{"", "busybox sh/busybox awk", "dash/awk/tail"} {
			if !installed(kit) {
				continue
			}
			a := newAccount(t)
			a.uses(kit)
			a.write("sessions/"+strconv.Itoa(me)+".json", sample(t, me, "0a-1", startOf(t, me)))
			a.write("sessions/"+strconv.Itoa(parent)+".json", sample(t, parent, "0a-2", startOf(t, parent)))
			head := func(id string) string { return "==> " + a.path("projects/-a/"+id+".jsonl") + " <==\n" }
			line := head(forged)
			switch forged {
			case "":
				line = ""
			case "end":
				line = "==> /dev/null <==\n"
			case "both":
				line = head("0a-2") + "==> /dev/null <==\n"
			}
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one")+line+prompt("2", "/a", "of one"))
			a.write("projects/-a/0a-2.jsonl", prompt("3", "/a", "two")+strings.TrimSuffix(prompt("4", "/a", "no line end"), "\n"))
			q := NewQuery()
			got := map[string]string{}
			for _, s := range q.Parse(a.run(q.Fragment())) {
				got[s.ID] = s.texts()
			}
			if want := map[string]string{"0a-1": "one of one", "0a-2": "two no line end"}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %q", name, kit, got)
			}
		}
	}
}
