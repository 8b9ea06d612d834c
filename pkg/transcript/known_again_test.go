package transcript

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestKnownAgain writes down what is known and has it read again: the next look reads
// no conversation whose file has not changed.
func TestKnownAgain(t *testing.T) {
	me, start := os.Getpid(), startOf(t, os.Getpid())
	a := newAccount(t)
	client := "sessions/" + strconv.Itoa(me) + ".json"
	a.write(client, sample(t, me, "0a-1", start))
	a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one"))
	look := func(q Query) ([]Session, bool) {
		out := a.run(q.Fragment())
		return q.Parse(out), strings.Contains(string(out), q.nonce+" tail ")
	}
	first, _ := look(NewQuery())
	if len(first) != 1 {
		t.Fatalf("%+v", first)
	}
	known, ok := first[0].Known()
	text, err := json.Marshal(known)
	var read Known
	if err != nil || json.Unmarshal(text, &read) != nil || !ok || !reflect.DeepEqual(read.Tail, known.Tail) {
		t.Fatalf("%+v, %v, %v", known, ok, err)
	}
	s, ok := read.Session()
	if !ok {
		t.Fatalf("%+v", read)
	}
	again, tail := look(NewQuery().Knowing([]Session{s}))
	if tail || !reflect.DeepEqual(again, first) {
		t.Errorf("read: %v; %+v, want %+v", tail, again, first)
	}
	a.write("projects/-a/0a-1.jsonl", prompt("1", "/a", "one")+prompt("2", "/a", "two"))
	if again, tail = look(NewQuery().Knowing([]Session{s})); !tail || again[0].texts() != "one two" {
		t.Errorf("read: %v; %+v", tail, again)
	}
	// Of a client that has ended, or of a file that was not found, nothing is known.
	a.write(client, sample(t, me, "0a-1", "1"))
	dead, _ := look(NewQuery())
	a.write(client, sample(t, me, "0a-2", start))
	silent, _ := look(NewQuery())
	for _, s := range append(dead, silent...) {
		if known, ok := s.Known(); ok {
			t.Errorf("%+v", known)
		}
	}
}

// TestKnownHostile takes nothing that would say something in a script.
func TestKnownHostile(t *testing.T) {
	good := Known{ID: "0a-1", PID: 7, Mark: "5 7 1 2026-11-30 10:00:00.5 +0000 1.5", Folder: "-a-B7"}
	if _, ok := good.Session(); !ok {
		t.Fatal("a good one is refused")
	}
	for name, spoil := range map[string]func(k *Known){
		"no id": func(k *Known) { k.ID = "" }, "an id with a quote": func(k *Known) { k.ID = "a'b" }, "with a blank": func(k *Known) { k.ID = "a b" },
		"a long id": func(k *Known) { k.ID = strings.Repeat("a", 300) }, "no mark": func(k *Known) { k.Mark = "" },
		"a line feed": func(k *Known) { k.Mark = "5 7\n0a-2 1" }, "a word": func(k *Known) { k.Mark = "$(x)" }, "a long mark": func(k *Known) { k.Mark = strings.Repeat("5 ", 300) },
		"a folder above": func(k *Known) { k.Folder = ".." }, "a folder with a quote": func(k *Known) { k.Folder = "-a'b" }, "two folders": func(k *Known) { k.Folder = "-a/-b" },
		"a long folder": func(k *Known) { k.Folder = strings.Repeat("-", 300) },
		"no process":    func(k *Known) { k.PID = 0 }, "all processes": func(k *Known) { k.PID = -1 },
	} {
		k := good
		spoil(&k)
		if s, ok := k.Session(); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
