package transcript

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func (a *account) tail(id string, max int64) Tail {
	a.t.Helper()
	q := NewTailQuery(id, max)
	return q.Parse(a.run(q.Fragment()))
}

func ids(records []Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// TestTail reads ends of every length: a record comes if and only if all of it
// lies in the end, and none comes twice.
func TestTail(t *testing.T) {
	noise := `{"type":"attachment","x":1}` + "\n"
	parts := []string{noise, prompt("1", "/a", "one"), prompt("2", "/a", "zwölf Boxkämpfer"), noise, prompt("3", "/a", `"type":"user"`), noise}
	all := strings.Join(parts, "")
	want := func(max int) string {
		var got []string
		for at, i := len(all), len(parts)-1; i >= 0; i-- {
			if at -= len(parts[i]); len(all)-at > max {
				break
			}
			if r, ok := ParseRecord([]byte(strings.TrimSpace(parts[i]))); ok {
				got = append([]string{r.ID}, got...)
			}
		}
		return strings.Join(got, " ")
	}
	for _, sh := range posixShells {
		a := newAccount(t)
		a.sh = sh
		a.write("projects/-a/0-1.jsonl", all)
		a.write("projects/-a/0-2.jsonl", "")
		lengths := []int{0, 1, len(noise), len(all) - 1, len(all), len(all) + 1, 1 << 30}
		for at := 0; at < len(all); at += len(all)/12 + 1 {
			lengths = append(lengths, at)
		}
		for _, p := range []int{1, 2, 4} { // to either side of each record
			n := len(strings.Join(parts[p:], ""))
			lengths = append(lengths, n-1, n, n+1)
		}
		for _, n := range lengths {
			tail := a.tail("0-1", int64(n))
			if got := ids(tail.Records); got != want(n) || tail.Size != int64(len(all)) || tail.Whole != (n >= len(all)) || tail.Full != tail.Whole {
				t.Errorf("sh %q: the last %d of %d bytes: %q, want %q: %+v", sh, n, len(all), got, want(n), tail)
			}
		}
		for _, id := range []string{"0-2", "0-3", "*", "", "0-1' $(touch x) /../*"} {
			if tail := a.tail(id, 1<<20); len(tail.Records) > 0 || tail.Size != 0 || !tail.Whole {
				t.Errorf("%q: %+v", id, tail)
			}
		}
	}
}

// long is a record of that type whose text has so many bytes.
func long(typ, id, text string, n int) string {
	text += strings.Repeat("x", max(0, n-len(text)))
	// As 2.1.332 has them: what a record is stands behind what it holds.
	return `{"isSidechain":false,"message":{"content":[{"text":` + quoted(text) + `,"type":"text"}],"role":"` + typ + `"},"type":"` + typ + `","uuid":"` + id + `","timestamp":"2026-11-30T02:55:04.810Z"}` + "\n"
}

// result is a record of what a tool gave.
func result(id, text string, failed bool) string {
	return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s,"is_error":%v,"tool_use_id":"u1"}]},"uuid":"%s","timestamp":"2026-11-30T02:55:04.810Z"}`+"\n", quoted(text), failed, id)
}

// awks are the programs that serve as awk somewhere; not all are here.
func awks() []string {
	found := []string{"awk"}
	for _, name := range []string{"mawk", "gawk", "original-awk", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			if name == "busybox" {
				path += " awk"
			}
			found = append(found, path)
		}
	}
	return found
}

// TestTailCuts has records that are too long to be sent whole: of each the
// beginning comes, with what it is.
func TestTailCuts(t *testing.T) {
	for _, awk := range awks() {
		t.Run(awk, func(t *testing.T) {
			a := newAccount(t)
			if awk != "awk" {
				dir := t.TempDir()
				writeProgram(t, dir+"/awk", "#!/bin/sh\nexec "+awk+" \"$@\"\n")
				t.Setenv("PATH", dir+":/usr/local/bin:/usr/bin:/bin")
				a.sh = "sh"
			}
			big := long("assistant", "a-2", "it begins so", 300<<10)
			image := strings.Replace(result("r-3", "@", true), quoted("@"), `[{"type":"image","source":{"type":"base64","data":"`+strings.Repeat("QUJD", 1<<20)+`"}}]`, 1)
			text := prompt("1", "/a", "one") + big +
				long("assistant", "a-1", "whole", 200<<10) +
				image + result("r-1", strings.Repeat("y", 9000), false) + result("r-2", strings.Repeat("y", 7000), true) +
				strings.Replace(long("user", "m-1", "meta", 300<<10), `"uuid"`, `"isMeta":true,"uuid"`, 1) +
				strings.Replace(long("user", "s-1", "side", 300<<10), `"isSidechain":false`, `"isSidechain":true`, 1) +
				strings.Replace(long("user", "c-1", "summary", 300<<10), `"uuid"`, `"isCompactSummary":true,"uuid"`, 1) +
				`{"type":"progress","message":{"type":"user","x":"` + strings.Repeat("x", 300<<10) + `"}}` + "\n" +
				prompt("2", "/a", "two")
			a.write("projects/-a/0-1.jsonl", text)
			q := NewTailQuery("0-1", 1<<30)
			out := a.run(q.Fragment())
			if len(out) > 2<<20 {
				t.Errorf("%d bytes came of %d", len(out), len(text))
			}
			tail := q.Parse(out)
			if got := ids(tail.Records); got != "1 a-2 a-1 r-3 r-1 r-2 m-1 s-1 c-1 2" {
				t.Fatalf("%q", got)
			}
			at := time.Date(2026, 11, 30, 2, 55, 4, 810e6, time.UTC)
			r := tail.Records
			if r[1].Type != "assistant" || r[1].Size != int64(len(big)-1) || !strings.HasPrefix(r[1].Text(), "it begins soxxx") || len(r[1].Text()) < 200<<10 || !r[1].At.Equal(at) {
				t.Errorf("%+.300v", r[1])
			}
			if r[2].Size != 0 || len(r[2].Text()) != 200<<10 {
				t.Errorf("%+.300v", r[2])
			}
			for i, want := range []Block{{Kind: "tool_result", Err: true}, {Kind: "tool_result"}, {Kind: "tool_result", Err: true, ID: "u1"}} {
				r := r[3+i]
				if len(r.Blocks) != 1 || r.Type != "user" || !r.At.Equal(at) || (r.Size > 0) != (i < 2) {
					t.Fatalf("%+.300v", r)
				}
				b := r.Blocks[0]
				b.Text = ""
				if b != want {
					t.Errorf("%+v, want %+v", b, want)
				}
			}
			if !r[6].Meta || !r[7].Side || !r[8].Summary || r[6].Side || r[7].Summary || r[8].Meta {
				t.Errorf("%+.300v", r[6:9])
			}
		})
	}
}

// TestTailAcrossPieces has what is looked for in long records across the places
// where their lines are taken to pieces.
func TestTailAcrossPieces(t *testing.T) {
	a := newAccount(t)
	var text strings.Builder
	const n, piece = 60, 4096
	for i := range n {
		id := fmt.Sprintf("r-%02d", i)
		plain := result(id, "", true)
		at := text.Len() + strings.Index(plain, `"is_error"`)
		pad := shortLine + piece - (at+shortLine)%piece - 1 - i // the field then begins 1+i before the end of a piece
		text.WriteString(result(id, strings.Repeat("y", pad+piece), true))
	}
	a.write("projects/-a/0-1.jsonl", text.String())
	tail := a.tail("0-1", 1<<30)
	if len(tail.Records) != n {
		t.Fatalf("%d records", len(tail.Records))
	}
	for i, r := range tail.Records {
		if want := fmt.Sprintf("r-%02d", i); r.ID != want || r.At.IsZero() || r.Size == 0 || !r.Blocks[0].Err {
			t.Errorf("%s: %+.300v", want, r)
		}
	}
}

// TestTailKeepsTheNewest has more than may be printed.
func TestTailKeepsTheNewest(t *testing.T) {
	a := newAccount(t)
	var text strings.Builder
	for i := range 100 {
		text.WriteString(long("assistant", fmt.Sprintf("a-%d", i), "x", 200<<10))
	}
	a.write("projects/-a/0-1.jsonl", text.String())
	tail := a.tail("0-1", 1<<30)
	n := len(tail.Records)
	if tail.Whole || !tail.Full || n < 70 || n > 90 || tail.Records[n-1].ID != "a-99" {
		t.Errorf("%d records, whole %v, full %v", n, tail.Whole, tail.Full)
	}
}

// TestInOrder has a first answer that was written before its prompt, and twins
// in which a later prompt is older by a clock that was set.
func TestInOrder(t *testing.T) {
	rec := func(id, parent, typ string, at int, blocks ...Block) Record {
		return Record{ID: id, Parent: parent, Type: typ, At: time.Unix(int64(at), 0), Blocks: append(blocks, Block{Kind: "text", Text: id})}
	}
	tool := Block{Kind: "tool_result"}
	queued := rec("q", "x", "user", 1)
	queued.Subtype = queuedCommand
	for name, tt := range map[string]struct {
		records []Record
		want    string
	}{
		"as it was":               {[]Record{rec("p", "", "user", 1), rec("a", "p", "assistant", 2)}, "p a"},
		"answer first":            {[]Record{rec("a", "x", "assistant", 2), rec("p", "", "user", 1), rec("b", "a", "assistant", 3)}, "p a b"},
		"tool first":              {[]Record{rec("a", "x", "assistant", 2), rec("r", "a", "user", 3, tool), rec("p", "", "user", 1)}, "p a r"},
		"behind another":          {[]Record{rec("p", "", "user", 1), rec("a", "p", "assistant", 2), rec("b", "y", "assistant", 5), rec("q", "a", "user", 4)}, "p a q b"},
		"the clock was set":       {[]Record{rec("p", "", "user", 5), rec("a", "p", "assistant", 6), rec("q", "a", "user", 1)}, "p a q"},
		"it was set, and the end": {[]Record{rec("p", "", "user", 5), rec("a", "p", "assistant", 6), rec("s", "a", "system", 7), rec("q", "s", "user", 1)}, "p a s q"},
		"a queued one":            {[]Record{rec("p", "", "user", 1), rec("a", "p", "assistant", 2), queued}, "p a q"},
		"a command behind":        {[]Record{rec("p", "", "user", 5), rec("q", "p", "user", 1)}, "p q"},
		"no time":                 {[]Record{rec("a", "", "assistant", 2), {ID: "p", Type: "user"}}, "a p"},
	} {
		if got := ids(inOrder(slices.Clone(tt.records))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestOnce(t *testing.T) {
	if got := ids(once([]Record{{ID: "a"}, {}, {ID: "b"}, {ID: "a"}, {}})); got != "a  b " {
		t.Errorf("%q", got)
	}
}

func TestMend(t *testing.T) {
	for head, want := range map[string]string{
		`{"a":"b"}`: `{"a":"b"}`, `{"a":"b"`: `{"a":"b"}`, `{"a":"b`: `{"a":"b"}`, `{"a":"`: `{"a":""}`, `{"a":`: `{}`, `{"a"`: `{}`, `{"a`: `{}`, `{`: `{}`, ``: ``,
		`{"a":"b","c`: `{"a":"b"}`, `{"a":"b",`: `{"a":"b"}`, `{"a":1`: `{}`, `{"a":1,`: `{"a":1}`, `{"a":tru`: `{}`, `{"a":[1,2`: `{"a":[1]}`, `{"a":["b",{"c":"d`: `{"a":["b",{"c":"d"}]}`,
		`{"a":"x\`: `{"a":"x"}`, `{"a":"x\\`: `{"a":"x\\"}`, `{"a":"x\n`: `{"a":"x\n"}`, `{"a":"x\u00e`: `{"a":"x"}`, `{"a":"x\u00e9`: `{"a":"x\u00e9"}`, "{\"a\":\"x\xc3": `{"a":"x"}`, "{\"a\":\"x\xc3\xa9": "{\"a\":\"x\xc3\xa9\"}",
		`}`: ``, `{]`: ``, `x`: ``, `"a`: `"a"`, ` {"a" : "b" , "c" : `: ` {"a" : "b"}`,
	} {
		if got := string(mend([]byte(head))); got != want {
			t.Errorf("%s: %s, want %s", head, got, want)
		}
	}
}

// TestMendRecords cuts each record of the real client at many places: what is left
// is the record so far, and never another one.
func TestMendRecords(t *testing.T) {
	for line := range strings.Lines(conversation(t)) {
		line = strings.TrimSuffix(line, "\n")
		whole, ok := ParseRecord([]byte(line))
		if !ok {
			continue
		}
		for at := 1; at <= len(line); at += 1 + len(line)/200 {
			var f map[string]json.RawMessage
			if err := json.Unmarshal(mend([]byte(line[:at])), &f); err != nil {
				t.Fatalf("%s: %v", line[:at], err)
			}
			q := NewTailQuery("x", 9)
			records := q.Parse([]byte(q.nonce + " cut 9 " + whole.ID + " " + whole.At.Format("2006-01-02T15:04:05.000Z07:00") + " 0 0 0 " + line[:at] + "\n"))
			if len(records.Records) == 0 {
				if at > len(line)/2 {
					t.Errorf("%s: nothing", line[:at])
				}
				continue // what it was is not among what there is
			}
			r := records.Records[0]
			if r.Type != whole.Type && !strings.HasPrefix(whole.Type, r.Type) || r.Size != 9 || !strings.HasPrefix(whole.Text(), r.Text()) || r.ID != whole.ID || !r.At.Equal(whole.At) {
				t.Errorf("%s: %+v", line[:at], r)
			}
		}
	}
}

// FuzzMend holds that the beginning of a JSON object, wherever it was cut, is
// mended to an object, and that nothing makes it panic.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{`{"type":"user","message":{"content":[{"text":"a\"b\\ü\ud83d\ude00 😀","n":-1.5e3,"t":true,"z":null},[],{}]}}`, `{`, `[[[`, `{"a":"\`, `nul`} {
		f.Add([]byte(seed), len(seed)/2)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		got := mend(text)
		if !json.Valid(text) || text[0] != '{' {
			return
		}
		if !json.Valid(got) {
			t.Errorf("whole: %s", got)
		}
		if at <= 0 || at > len(text) {
			return
		}
		before := string(text)
		if got := mend(text[:at:at]); !json.Valid(got) {
			t.Errorf("%s: %s", text[:at], got)
		}
		if string(text) != before {
			t.Errorf("%s was changed", before)
		}
	})
}

// FuzzTail holds that nothing that a query prints makes its reader panic. NONCE
// stands for the query's nonce.
func FuzzTail(f *testing.F) {
	for _, seed := range []string{
		"", "NONCE size 5\n{\"type\":\"user\"}\n", "NONCE size 99999999999999999999\n", "NONCE cut\n", "NONCE cut 9 - - 0 0 0 \n", "NONCE cut 9 u 2026-11-30T02:55:04Z 1 1 1 {\"message\":{\"content\":[{\"type\":\"tool_result\"",
		"NONCE cut x - - 0 0 0 {}\n", "NONCE cut 9 - - 0 0 0 null\n", "NONCE cut 9 - x 0 0 0 [\n", "NONCE cut 9 - - 0 0 0 {\"message\":[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		q := NewTailQuery("x", 9)
		for _, r := range q.Parse([]byte(strings.ReplaceAll(out, "NONCE", q.nonce))).Records {
			if r.Type != "user" && r.Type != "assistant" && r.Type != "system" {
				t.Errorf("%+v", r)
			}
		}
	})
}
