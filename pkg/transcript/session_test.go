package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string fails to marshal
	}
	return string(b)
}

func TestQuery(t *testing.T) {
	me := os.Getpid()
	start := startOf(t, me)
	dead := deadPID(t)
	parent := os.Getppid()
	for _, sh := range append([]string{""}, kits(t)...) {
		t.Run("sh is "+sh, func(t *testing.T) {
			a := newAccount(t)
			a.uses(sh)
			file := func(pid int) string { return "sessions/" + strconv.Itoa(pid) + ".json" }
			a.write(file(me), sample(t, me, sampleID, start))
			a.write(file(dead), sample(t, dead, "0000-dead", "487143"))
			a.write(file(parent), sample(t, parent, "0000-reused", "1"))
			a.write(file(1), `{"pid":1,"sessionId":"`+sampleID+`","cwd":"/ha`) // half written, of a process that lives
			a.write("sessions/nonsense.json", sample(t, me, "0000-nonsense", start))
			a.write("sessions/2x.json", sample(t, me, "0000-nonsense", start))
			a.write("sessions/-1.json", sample(t, me, "0000-nonsense", start))
			a.write("sessions/note.txt", "x")
			a.write("sessions/3.json/file", "x")
			a.write("projects/-home-dev-app/"+sampleID+".jsonl", conversation(t))
			a.write("projects/-other/0000-dead.jsonl", conversation(t))

			q := NewQuery()
			byID := map[string]Session{}
			for _, s := range q.Parse(a.run(q.Fragment())) {
				byID[s.ID] = s
			}
			if len(byID) != 3 {
				t.Errorf("%d sessions: %+v", len(byID), byID)
			}
			s := byID[sampleID]
			if !s.Alive || s.PID != me || s.Dir != "/home/dev/app" || s.Version != "2.1.332" || s.Kind != "interactive" || s.Status != "idle" ||
				s.Pane != "%0" || !s.Since.Equal(time.UnixMilli(1795978249341)) || s.Size != int64(len(conversation(t))) {
				t.Errorf("%+v", s)
			}
			if n := len(s.Tail); n != 12 || !s.Tail[n-1].APIError || s.Tail[n-1].APIStatus != 400 || s.Tail[n-1].Text() != "API Error: 400 invalid_request_error" {
				t.Errorf("the tail is %+v", s.Tail)
			}
			for _, id := range []string{"0000-dead", "0000-reused"} {
				if s := byID[id]; s.Alive || s.PID == 0 || len(s.Tail) > 0 && id == "0000-dead" {
					t.Errorf("%s: %+v", id, s)
				}
			}
		})
	}
}

// TestQueryTails holds that each session gets its own conversation.
func TestQueryTails(t *testing.T) {
	me, start := os.Getpid(), startOf(t, os.Getpid())
	name := "sessions/" + strconv.Itoa(me) + ".json"
	look := func(a *account) []Session {
		q := NewQuery()
		return q.Parse(a.run(q.Fragment()))
	}
	for title, tt := range map[string]struct {
		prepare func(a *account)
		want    string // text of the newest record; "" is no tail
	}{
		"one folder": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
		}, "one"},
		"none yet": {func(a *account) { a.write(name, sample(t, me, "0a-1", start)) }, ""},
		"other's only": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.write("projects/-a/0a-12.jsonl", prompt("1", "/a", "one"))
		}, ""},
		"two folders": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.age(a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "stale")), time.Hour)
			a.write("projects/-b/0a-1.jsonl", prompt("1", "/b", "live"))
		}, "live"},
		"two folders, other order": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "live"))
			a.age(a.write("projects/-b/0a-1.jsonl", prompt("1", "/b", "stale")), time.Hour)
		}, "live"},
		"drawn out": {func(a *account) {
			a.write(name, strings.ReplaceAll(strings.ReplaceAll(sample(t, me, "0a-1", start), ",", ",\n  "), `":"`, `": "`)+"\n")
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
		}, "one"},
		"hostile id": {func(a *account) {
			a.write(name, sample(t, me, "$(touch pwned)/../*", start))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
		}, ""},
		"hostile name": {func(a *account) {
			a.write(name, strings.Replace(sample(t, me, "0a-1", start), `"name":"loc-app-aa"`, `"name":`+quoted(`x","sessionId":"0a-2"`), 1))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
			a.write("projects/-a/0a-2.jsonl", prompt("1", "/a", "two"))
		}, "one"},
		"odd bytes before the id": {func(a *account) {
			a.write(name, strings.Replace(sample(t, me, "0a-1", start), `{`, "{\"x\":\"\xff\xfe\",", 1))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
		}, "one"},
		"long records between": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one")+strings.Repeat(`{"type":"api-request","x":"`+strings.Repeat("y", 9000)+"\"}\n", 20))
		}, "one"},
		"behind the tail": {func(a *account) {
			a.write(name, sample(t, me, "0a-1", start))
			a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one")+strings.Repeat("y", 256<<10))
		}, ""},
	} {
		t.Run(title, func(t *testing.T) {
			a := newAccount(t)
			tt.prepare(a)
			sessions := look(a)
			if len(sessions) != 1 || !sessions[0].Alive {
				t.Fatalf("%+v", sessions)
			}
			got := ""
			if tail := sessions[0].Tail; len(tail) > 0 {
				got = tail[len(tail)-1].Text()
			}
			if got != tt.want {
				t.Errorf("the newest is %q, want %q", got, tt.want)
			}
			if _, err := os.Lstat(filepath.Join(os.Getenv("HOME"), "pwned")); err == nil {
				t.Error("a name was run")
			}
		})
	}
}

// TestQueryHalfWritten has a file that is just being written behind a whole one,
// with a conversation of its own, which is not the other's.
func TestQueryHalfWritten(t *testing.T) {
	q := NewQuery()
	n := q.nonce
	file := func(id string) string { return n + "\tfile\t100\t7\t1\t1.5\t1\t/p/" + id + ".jsonl\n" }
	out := file("a") + file("b") + file("c") +
		n + " session 7 70\n" + `{"pid":7,"sessionId":"a","procStart":"70"}` + "\n" + n + " process 7 1 7 S claude\n" +
		n + " session 8 80\n" + `{"pid":8,"sessionId":"b","pro` + "\n" + n + " process 8 1 7 S claude\n" +
		n + " session 9 90\n" + `{"pid":10,"sessionId":"c","procStart":"90"}` + "\n" + n + " process 9 1 7 S claude\n" +
		n + " tail a\n" + prompt("1", "/a", "one") + n + " tail b\n" + prompt("2", "/a", "two") + n + " tail c\n" + prompt("3", "/a", "three")
	sessions := q.Parse([]byte(out))
	if len(sessions) != 1 || sessions[0].Size != 100 || len(sessions[0].Tail) != 1 || sessions[0].Tail[0].ID != "1" || !sessions[0].Alive || len(sessions[0].Line) != 1 {
		t.Errorf("%+v", sessions)
	}
}

// TestQueryKnownFile reads answers to a query that knows a conversation: the script
// says by its silence that the file is as it was, and the file's record has to agree.
func TestQueryKnownFile(t *testing.T) {
	last := []Session{{ID: "a", Tail: []Record{{ID: "old"}}, file: file{size: 5, mark: "5\t7\t1\t1.5\t1"}}}
	for record, want := range map[string]int{"5\t7\t1\t1.5\t1\t/p/a.jsonl": 1, "5\t7\t2\t1.5\t1\t/p/a.jsonl": 0, "5\t\t\t\t\t/p/a.jsonl": 0, "5\t7\t1\t1.5\t1\t/p/b.jsonl": 0, "": 0} {
		q := NewQuery().Knowing(last)
		got := q.Parse([]byte(q.nonce + "\tfile\t" + record + "\n" + q.nonce + " session 7 70\n" + `{"pid":7,"sessionId":"a"}` + "\n"))
		if len(got) != 1 || len(got[0].Tail) != want {
			t.Errorf("%q: %+v", record, got)
		}
	}
}

func TestConfigDir(t *testing.T) {
	me, start := os.Getpid(), startOf(t, os.Getpid())
	a := newAccount(t)
	a.write("sessions/"+strconv.Itoa(me)+".json", sample(t, me, "0a-1", start))
	other := *a
	other.base = filepath.Join(t.TempDir(), "it's a $(folder)")
	other.write("sessions/"+strconv.Itoa(me)+".json", sample(t, me, "0b-2", start))
	other.write("projects/-a/0b-2.jsonl", prompt("1", "/a", "one"))
	look := func() string {
		q, past, tail := NewQuery(), NewPastQuery("/a"), NewTailQuery("0b-2", 999)
		s := q.Parse(a.run(q.Fragment()))
		if len(s) != 1 {
			t.Fatalf("%+v", s)
		}
		return s[0].ID + " " + strings.Join(past.Parse(a.run(past.Fragment())), " ") + " " + strconv.Itoa(len(tail.Parse(a.run(tail.Fragment())).Records))
	}
	if got := look(); got != "0a-1  0" {
		t.Errorf("by default %q", got)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", other.base)
	if got := look(); got != "0b-2 0b-2 1" {
		t.Errorf("with CLAUDE_CONFIG_DIR %q", got)
	}
}

// FuzzQueryParse holds that nothing makes the readers panic. NONCE stands for
// the query's nonce.
func FuzzQueryParse(f *testing.F) {
	for _, seed := range []string{
		"", "NONCE", "NONCE \n", "NONCE session 7 70\n{\"pid\":7,\"sessionId\":\"a\"}\nNONCE process 7 1 7 S a b\n\nNONCE\tfile\t5\t7\t1\t1.5\t1\t/p/a.jsonl\nNONCE tail a\n{\"type\":\"user\"}\n", "NONCE session 5\nNONCE tail 3\n{\"type\":\"user\"}\n",
		"NONCE process 7 1 7 S a\nNONCE\tfile\t\t\t\t\t\t\nNONCE\tfile\t1\t1\t1\t1\t1\t/p/$(x).jsonl\n", "NONCE session 7 70\n{\"pid\":7}\nNONCE process 7 1\n", "NONCE\n", "NONCE\t\n",
		"NONCE tail 3\n{\"type\":\"user\"}\n", "NONCE session 7 gone\n{\"pid\":-7}\n", "NONCE session 7 alive\n[]\n", "NONCE x \"cwd\":\"/a\"\n", "NONCE \n\n", "NONCE x \"cwd\":\"/\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		q, past := NewQuery(), NewPastQuery("/a")
		sessions := q.Parse([]byte(strings.ReplaceAll(out, "NONCE", q.nonce)))
		for _, s := range sessions {
			if s.PID <= 0 || !s.Alive && (len(s.Line) > 0 || len(s.Tail) > 0) {
				t.Errorf("%+v", s)
			}
		}
		for id, s := range q.Knowing(sessions).known {
			if safeID(id) != id || strings.ContainsAny(s.file.mark, "'\n$`\"\\") {
				t.Errorf("%q %q would go into a script", id, s.file.mark)
			}
		}
		if again := q.Knowing(sessions).Under("p", "d").again(); strings.Trim(again, "0123456789 \t\n.:+-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Errorf("%q would go into a script", again)
		}
		for _, id := range past.Parse([]byte(strings.ReplaceAll(out, "NONCE", past.nonce))) {
			if safeID(id) != id {
				t.Errorf("%q", id)
			}
		}
	})
}
