package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

func clientOf(t testing.TB, id string, tail ...transcript.Record) transcript.Session {
	t.Helper()
	s, ok := transcript.Known{ID: id, PID: 7, Mark: "5 7 1 1.5 1.5", Tail: tail}.Session()
	if !ok {
		t.Fatal("no session")
	}
	return s
}

// fullMemory has something in every field, all of it seen ago before now.
func fullMemory(t testing.TB, ago time.Duration, now time.Time) *memory {
	from := now.Add(-ago)
	settings, zone := "5 7 1.5 1.5\n", "8 9 1.5 1.5\n"
	repo := &repoMemory{lease: lease{from, factAge}, block: "1 2 3.5 4.5\n", oid: "0af", slow: true,
		git: &Git{Branch: "main", Ahead: 1, Behind: 2, Dirty: 3, UntrackedSkipped: true, LastCommit: &Commit{"0af", time.Unix(1e9, 0).UTC(), "a subject"}}}
	return &memory{
		sight: &sighted{
			snap:     tmux.Snapshot{Panes: []tmux.Pane{{Session: "claude", ID: "%1"}, {Session: "claude", ID: "%2"}}},
			sessions: []transcript.Session{clientOf(t, "0a-1", transcript.Record{Type: "assistant", At: time.Unix(1e9, 0).UTC()})},
		},
		stat: "gnu", clock: lease{from, clockAge}, offset: time.Hour, east: time.FixedZone("", 3600),
		settings: &settings, vim: true, zoneFile: &zone, zone: "/usr/share/zoneinfo/Europe/Berlin",
		folders: map[string]*folderMemory{"~/a": {path: "/home/u/a", room: lease{from, factAge}, disk: &Disk{1 << 40, 50}, repo: repo}},
	}
}

// TestMemoryBlob writes a memory down and reads it as another process would: all that
// may still be told is there, and not more.
func TestMemoryBlob(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		seen, kept  time.Duration // before it was written down, and since
		facts, hour bool          // the counts are told, and the clock is
	}{
		"at once":              {0, 0, true, true},
		"after a while":        {time.Second, 3 * time.Second, true, true},
		"seen too long ago":    {5 * time.Second, 0, false, true},
		"kept too long":        {0, 5 * time.Second, false, true},
		"both together":        {3 * time.Second, 2 * time.Second, false, true},
		"almost":               {3 * time.Second, 2*time.Second - 1, true, true},
		"over in any case":     {factAge, 0, false, true},
		"the clock too":        {time.Minute - time.Second, time.Second, false, false},
		"the clock almost":     {time.Minute - time.Second, time.Second - 1, false, true},
		"nothing but for ever": {0, 4 * time.Minute, false, false},
	} {
		want := fullMemory(t, tt.seen, now.Add(-tt.kept))
		blob := want.encode("link", now.Add(-tt.kept))
		got, link := decodeMemory(blob, tt.kept, now)
		if got == nil || link != "link" {
			t.Errorf("%s: nothing of %s", name, blob)
			continue
		}
		// What the host confirms is told whatever its age.
		if !reflect.DeepEqual(got.sight, want.sight) || got.stat != "gnu" || *got.settings != *want.settings || !got.vim || *got.zoneFile != *want.zoneFile || got.zone != want.zone {
			t.Errorf("%s: %+v", name, got)
		}
		if got.clock.over(now) == tt.hour || tt.hour && (got.offset != time.Hour || eastOf(got.east) != 3600) || !tt.hour && (got.offset != 0 || got.east != nil) {
			t.Errorf("%s: the clock: %+v, %v, %v", name, got.clock, got.offset, got.east)
		}
		f, w := got.folders["~/a"], want.folders["~/a"]
		if f == nil || f.path != w.path || f.repo == nil || f.repo.oid != "0af" || !reflect.DeepEqual(f.repo.git.LastCommit, w.repo.git.LastCommit) {
			t.Fatalf("%s: %+v", name, f)
		}
		hints := f.hints(now)
		if hints.disk != tt.facts || (hints.block != nil) != tt.facts || (hints.slow == "1") != tt.facts || hints.commit != "0af" {
			t.Errorf("%s: %+v", name, hints)
		}
		if told := f.disk != nil && f.repo.git.Dirty == 3; told != tt.facts {
			t.Errorf("%s: %+v, %+v", name, f.disk, f.repo.git)
		}
		if tt.facts && !(reflect.DeepEqual(f.repo.git, w.repo.git) && f.repo.block == w.repo.block && *f.disk == *w.disk) {
			t.Errorf("%s: %+v, want %+v", name, f.repo, w.repo)
		}
		// What was told from memory is not told for longer by being kept again.
		rest := max(0, recalledAge-tt.seen-tt.kept)
		if again, _ := decodeMemory(got.encode("link", now), rest, now.Add(rest)); again == nil || again.folders["~/a"].hints(now.Add(rest)).disk {
			t.Errorf("%s: it is told for ever", name)
		}
	}
}

// TestMemoryBlobNothing has what is not to be gone by.
func TestMemoryBlobNothing(t *testing.T) {
	now := time.Now()
	blob := fullMemory(t, 0, now).encode("link", now)
	change := func(from, to string) []byte {
		out := bytes.Replace(blob, []byte(from), []byte(to), 1)
		if bytes.Equal(out, blob) {
			t.Fatalf("%s has no %s", blob, from)
		}
		return out
	}
	for name, tt := range map[string]struct {
		blob []byte
		age  time.Duration
		now  time.Time
	}{
		"empty":                    {nil, 0, now},
		"no JSON":                  {[]byte("{"), 0, now},
		"cut":                      {blob[:len(blob)/2], 0, now},
		"a list":                   {[]byte("[]"), 0, now},
		"another build's":          {change(`"form":"`+memoryForm+`"`, `"form":"0"`), 0, now},
		"a field more":             {change(`"link":`, `"more":1,"link":`), 0, now},
		"of no connection":         {change(`"link":"link"`, `"link":""`), 0, now},
		"too long":                 {append(slices.Clone(blob), bytes.Repeat([]byte(" "), maxMemory)...), 0, now},
		"the calendar went on":     {blob, time.Second, now.Add(3 * time.Second)},
		"the calendar went back":   {blob, time.Second, now.Add(-time.Second)},
		"the machine has slept":    {blob, 4 * time.Second, now.Add(time.Hour)},
		"an age of below nothing":  {blob, -time.Second, now},
		"the longest age there is": {blob, 1<<63 - 1, now},
	} {
		if m, _ := decodeMemory(tt.blob, tt.age, tt.now); m != nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m, _ := decodeMemory(blob, 2*time.Second, now.Add(2500*time.Millisecond)); m == nil {
		t.Error("the twin: half a second of doubt")
	}
	for name, spoiled := range map[string][]byte{
		"a block that quotes": change(`"block":"1 2 3.5 4.5\n"`, `"block":"'; touch x; '"`), "an id that is none": change(`"oid":"0af"`, `"oid":"$(x)"`),
	} {
		if m, _ := decodeMemory(spoiled, 0, now); m == nil || m.folders["~/a"].repo != nil || m.folders["~/a"].disk == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m, _ := decodeMemory(change(`"stat":"gnu"`, `"stat":"x; y"`), 0, now); m == nil || m.stat != "" {
		t.Errorf("another stat: %+v", m)
	}
	if m, _ := decodeMemory(change(`"east":3600`, `"east":3600000`), 0, now); m == nil || !m.clock.over(now) || m.east != nil {
		t.Errorf("a zone that is none: %+v", m)
	}
	if m, _ := decodeMemory(change(`"settings":"5 7`, `"settings":"x 7`), 0, now); m == nil || m.settings != nil || m.vim {
		t.Errorf("settings of words: %+v", m)
	}
}

// TestMemoryBlobBounds keeps it small, what costs the most to see again first, and
// leaves out what would be another text when it is read.
func TestMemoryBlobBounds(t *testing.T) {
	now := time.Now()
	m := fullMemory(t, 0, now)
	for len(m.sight.sessions) < 1500 {
		m.sight.sessions = append(m.sight.sessions, clientOf(t, "0a-2"))
	}
	if got, _ := decodeMemory(m.encode("link", now), 0, now); got == nil || len(got.sight.sessions) != 0 || len(got.folders) != 1 {
		t.Errorf("many clients: %+v", got)
	}
	m = fullMemory(t, 0, now)
	m.folders["~/b"] = &folderMemory{path: strings.Repeat("b", maxMemory)}
	if got, _ := decodeMemory(m.encode("link", now), 0, now); got == nil || len(got.folders) != 0 || got.stat != "gnu" {
		t.Errorf("a long path: %+v", got)
	}
	m = fullMemory(t, 0, now)
	m.zone = "\xff"
	m.folders["~/b"] = &folderMemory{path: "/b\xff"}
	m.folders["~/c\xff"] = &folderMemory{path: "/c"}
	m.folders["~/a"].repo.git.LastCommit.Subject = "caf\xe9"
	got, _ := decodeMemory(m.encode("link", now), 0, now)
	if got == nil || got.zoneFile != nil || len(got.folders) != 1 || got.folders["~/a"].repo != nil || got.folders["~/a"].disk == nil {
		t.Errorf("other encodings: %+v", got)
	}
}

// TestMemoryBrief keeps of a conversation what a verdict goes by, and no word that a
// person or the model has said.
func TestMemoryBrief(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(1e9+n, 0).UTC() }
	say := func(n int64, r transcript.Record, text string) transcript.Record {
		r.At, r.Blocks = at(n), []transcript.Block{{Kind: "text", Text: text}, {Kind: "tool_use", Args: "secret"}}
		return r
	}
	prompt := say(1, transcript.Record{Type: "user"}, "secret prompt")
	said := say(2, transcript.Record{Type: "assistant"}, "secret answer")
	refused := say(3, transcript.Record{Type: "assistant", APIError: true, APIStatus: 429}, "limit reached, resets 3pm")
	ended := say(4, transcript.Record{Type: "system", Subtype: "turn_duration"}, "secret end")
	meta, side := say(5, transcript.Record{Type: "user", Meta: true}, "secret meta"), say(6, transcript.Record{Type: "user", Side: true}, "secret side")
	for name, tail := range map[string][]transcript.Record{
		"none": nil, "a prompt": {prompt}, "an answer": {prompt, said}, "its end": {prompt, said, ended}, "refused": {prompt, refused}, "refused and ended": {prompt, refused, ended},
		"then the client": {prompt, said, ended, meta, side}, "the client alone": {meta, side}, "an end alone": {side, ended}, "a subagent's": {prompt, said, side},
	} {
		m := newMemory()
		m.sight = &sighted{sessions: []transcript.Session{clientOf(t, "0a-1", tail...)}}
		now := time.Now()
		blob := m.encode("link", now)
		got, _ := decodeMemory(blob, 0, now)
		if got == nil || len(got.sight.sessions) != 1 || bytes.Contains(blob, []byte("secret")) {
			t.Errorf("%s: %s", name, blob)
			continue
		}
		want, is := newest(tail), newest(got.sight.sessions[0].Tail)
		if want != nil && want.Event != "api_error" {
			want.Text = "" // which says nothing there
		}
		if !reflect.DeepEqual(want, is) {
			t.Errorf("%s: %+v, want %+v", name, is, want)
		}
	}
	long := refused
	long.Blocks = []transcript.Block{{Kind: "text", Text: strings.Repeat("x", maxRefusal+1)}}
	m := newMemory()
	m.sight = &sighted{sessions: []transcript.Session{clientOf(t, "0a-1", long), clientOf(t, "0a-2", refused)}}
	if got, _ := decodeMemory(m.encode("link", time.Now()), 0, time.Now()); got == nil || len(got.sight.sessions) != 1 || got.sight.sessions[0].ID != "0a-2" {
		t.Errorf("a long refusal: %+v", got)
	}
}

// TestMemoryBlobFields names what a memory has: whoever adds to one says here, and in
// encode and decodeMemory, whether another process may know it, and how long.
func TestMemoryBlobFields(t *testing.T) {
	for _, tt := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[memory](), "sight stat clock offset east asked login tz settings vim zoneFile zone folders"},
		{reflect.TypeFor[folderMemory](), "path room disk repo"},
		{reflect.TypeFor[repoMemory](), "lease block oid git slow"},
	} {
		var names []string
		for f := range tt.of.Fields() {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s has %s", tt.of, got)
		}
	}
}

// TestMemoryForm has another form for each change of what is written down: a server
// may have what a program of another build has left.
func TestMemoryForm(t *testing.T) {
	sum := sha256.Sum256([]byte(shapeOf(reflect.TypeFor[memoryBlob]())))
	if got := hex.EncodeToString(sum[:8]); got != memoryForm {
		t.Errorf("memoryForm is %q now", got)
	}
	type other struct{ memoryBlob }
	if shapeOf(reflect.TypeFor[other]()) == shapeOf(reflect.TypeFor[memoryBlob]()) {
		t.Error("another type has the same")
	}
}

// shapeOf tells how a type is written down: the names and types of all its fields.
func shapeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return t.Kind().String() + " " + shapeOf(t.Elem())
	case t.Kind() == reflect.Map:
		return "map " + shapeOf(t.Key()) + " " + shapeOf(t.Elem())
	case t.Kind() != reflect.Struct:
		return t.Kind().String()
	}
	var b strings.Builder
	for f := range t.Fields() {
		b.WriteString(f.Name + " " + string(f.Tag) + " " + shapeOf(f.Type) + ";")
	}
	return "{" + b.String() + "}"
}

// FuzzMemoryBlob holds that whatever is kept makes no script say another thing, and
// that what was read can be written down and read again. FORM stands for the build's
// form, and NOW for the time.
func FuzzMemoryBlob(f *testing.F) {
	now := time.Now()
	stamp, _ := json.Marshal(now.UTC().Round(0))
	m := fullMemory(f, 0, now)
	full := bytes.Replace(bytes.Replace(m.encode("link", now), []byte(memoryForm), []byte("FORM"), 1), stamp, []byte("NOW"), 1)
	for _, seed := range []string{
		string(full), "", "{}", `{"form":"FORM","at":NOW,"link":"a"}`, `{"form":"FORM","at":NOW,"link":"a","folders":{"~":null,"~/a":{"path":"x","repo":{"lease":{"age":-1,"for":1}}}}}`,
		`{"form":"FORM","at":NOW,"link":"a","clock":{"age":9223372036854775807,"for":9223372036854775807},"panes":{"a":["%1;x","$(x)"]},"clients":[{"id":"'","pid":1,"mark":"'"}]}`,
	} {
		f.Add(seed, int64(time.Second))
	}
	numeric, commit := regexp.MustCompile(`^[0-9. \n]*$`), regexp.MustCompile(`^[0-9a-f]*$`)
	f.Fuzz(func(t *testing.T, text string, age int64) {
		blob := []byte(strings.Replace(strings.Replace(text, "FORM", memoryForm, 1), "NOW", string(stamp), 1))
		at := now.Add(time.Duration(age) % time.Hour)
		got, link := decodeMemory(blob, time.Duration(age), at)
		if got == nil {
			return
		}
		words := []string{*orEmpty(got.settings), *orEmpty(got.zoneFile)}
		for _, f := range got.folders {
			if f.repo != nil {
				words = append(words, f.repo.block)
				if !commit.MatchString(f.repo.oid) {
					t.Errorf("commit %q", f.repo.oid)
				}
			}
			if f.hints(at).disk && at.Sub(f.room.from) >= recalledAge {
				t.Errorf("a disk of %v", at.Sub(f.room.from))
			}
		}
		for _, w := range words {
			if !numeric.MatchString(w) {
				t.Errorf("block %q", w)
			}
		}
		sight := newSight(got.lastSight(), false, "claude").fragment()
		if site := newSite(got, "~/a", "~").fragment(); strings.Contains(sight+site, "$(x)") {
			t.Errorf("%s\n%s", sight, site)
		}
		again, same := decodeMemory(got.encode(link, at), 0, at)
		if same != link && len(link) < 100 || again != nil && len(again.folders) > len(got.folders) {
			t.Errorf("%q, %+v", same, again)
		}
	})
}

func orEmpty(s *string) *string {
	if s == nil {
		return new(string)
	}
	return s
}
