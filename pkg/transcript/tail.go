package transcript

import (
	"bytes"
	"fmt"
	"strconv"
)

// Tail is the end of a conversation.
type Tail struct {
	Records []Record // oldest first, each once
	Size    int64    // of the conversation's file, in bytes; 0 when there is none
	// Whole: the records are all that the conversation has.
	Whole bool
	// Full: no more can be had by asking for a longer end.
	Full bool
}

// TailQuery asks for the end of one conversation.
type TailQuery struct {
	Query
	id  string
	max int64
}

// NewTailQuery asks for the records that begin in the last max bytes of a
// conversation. The id must be one that Query or PastQuery found.
func NewTailQuery(id string, max int64) TailQuery { return TailQuery{NewQuery(), safeID(id), max} }

const (
	// shortLine is up to which length, in bytes, each record comes whole, and how
	// much of a longer one that holds a tool's result, or waits in the queue,
	// comes: enough to tell what it was.
	shortLine = 8 << 10
	// longLine is how much of any other record comes: more than a model writes at
	// once, and a quarter of the longest prompt.
	longLine = 256 << 10
	// maxTail bounds what a query prints, in bytes; the newest is kept. It is half
	// of what a script may print.
	maxTail = 16 << 20
)

// cutLong is an awk program that prints the lines that say what happened: short
// ones whole, and of a longer one, behind a mark and what the reader needs of the
// part that is left out, the beginning. Quotes in a string of JSON are escaped, so
// that a pattern with plain quotes finds no text.
//
// Where a line may be very long, it reads pieces of lines, the ends of which are
// \001: awk may take a second for ten megabytes of one line (mawk 1.3.4: the time
// grows with the square). Each piece is looked through together with the end of
// the one before. With skip the first line is left out.
const cutLong = `
function find(re, skip) { return match(seen, re) ? substr(seen, RSTART + skip, RLENGTH - skip - 1) : "" }
function look() {
  if (id == "") id = find("\"uuid\":\"[0-9a-zA-Z-]+\"", 8)
  if (at == "") at = find("\"timestamp\":\"[0-9TZ:.+-]+\"", 13)
  told = told || seen ~ types
  result = result || seen ~ /"type":"(tool_result|queue-operation)"/
  failed = failed || seen ~ /"is_error":true/
  meta = meta || seen ~ /"isMeta":true/
  summary = summary || seen ~ /"isCompactSummary":true/
  seen = substr(seen, length(seen) - 99)
}
function take(piece) {
  if (n < long) head = head piece
  n += length(piece); seen = seen piece
  if (n > short) look()
}
function put() {
  if (skip) skip = 0
  else if (n <= short) { if (head ~ types) print head }
  else if (told && n <= long && !result) print head
  else if (told) print mark, "cut", n, id == "" ? "-" : id, at == "" ? "-" : at, failed + 0, meta + 0, summary + 0, substr(head, 1, result ? short : long)
  n = 0; head = seen = id = at = ""; told = result = failed = meta = summary = 0
}
!pieces { take($0); put(); next }
{ last = split($0, piece, "\001"); for (i = 1; i < last; i++) { take(piece[i]); put() } take(piece[last]) }
END { if (pieces) put() }
`

// wholeLines is up to how long an end awk reads it by lines: 2 MiB in one line
// take it a hundredth of a second.
const wholeLines = 2 << 20

// Fragment is the sh text of the query. The line that the end begins in is left
// out by reading one byte more and dropping all up to the first line feed, so
// that a record which begins right there is not. It starts few programs: on a
// busy machine each costs more than what it reads.
func (q TailQuery) Fragment() string {
	in, out, pieces := "", "", 0
	if q.max > wholeLines {
		in, pieces = `tr '\n' '\001' | fold -b -w 4096 | `, 1
	}
	if q.max > maxTail/2 { // else what is printed can't be too much
		out = fmt.Sprintf(" | tail -c %d", maxTail)
	}
	return configDir + fmt.Sprintf(`t=$(newest '%s')
if [ -f "$t" ]; then
  size=$(($(wc -c < "$t")))
  printf '%s size %%s\n' "$size"
  from=+1 skip=0
  if [ "$size" -gt %d ]; then from=%d skip=1; fi
  LC_ALL=C; export LC_ALL
  tail -c $from "$t" | %sawk -v mark=%[2]s -v skip=$skip -v pieces=%[6]d -v short=%[7]d -v long=%[8]d -v types='%[9]s' '%[10]s'%[11]s
fi
:
`, q.id, q.nonce, max(q.max, 0), max(q.max, 0)+1, in, pieces, shortLine, longLine, told, cutLong, out)
}

// Parse reads what the fragment printed.
func (q TailQuery) Parse(out []byte) Tail {
	var t Tail
	var records []Record
	var queue queued
	for line := range bytes.Lines(out) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var cut cutLine
		if rest, ok := bytes.CutPrefix(line, []byte(q.nonce+" ")); ok {
			if size, ok := bytes.CutPrefix(rest, []byte("size ")); ok {
				t.Size, _ = strconv.ParseInt(string(size), 10, 64)
				continue
			}
			if cut, ok = parseCut(rest); !ok {
				continue
			}
			line = cut.line
		}
		r, ok := queue.next(line)
		if !ok {
			r, ok = ParseRecord(line)
		}
		if ok && !r.Enqueued() { // one that is taken in is told of then
			if cut.size > 0 {
				cut.mark(&r)
			}
			records = append(records, r)
		}
	}
	t.Records = once(inOrder(records))
	full := len(out) >= maxTail
	t.Whole = t.Size <= q.max && !full
	t.Full = t.Size <= q.max || full
	return t
}

// once drops records that were there before: a client that resumes may write
// some again.
func once(records []Record) []Record {
	seen := map[string]bool{}
	kept := records[:0]
	for _, r := range records {
		if r.ID == "" || !seen[r.ID] {
			kept = append(kept, r)
		}
		seen[r.ID] = true
	}
	return kept
}

// inOrder mends the one disorder that was seen: the first answer of a
// conversation written before the prompt that it answers (2.1.217). The prompt
// is then the older by its time, and follows none of the answer's records.
func inOrder(records []Record) []Record {
	for i, r := range records {
		if _, ok := r.Prompt(); !ok || r.Subtype == queuedCommand || r.At.IsZero() {
			continue
		}
		j := i
		for j > 0 && answers(records[j-1]) && records[j-1].At.After(r.At) && records[j-1].ID != r.Parent {
			j--
		}
		copy(records[j+1:i+1], records[j:i])
		records[j] = r
	}
	return records
}

// answers tells whether a record is of the model, or a result for it.
func answers(r Record) bool { return r.Type == "assistant" || uses(r, "tool_result") }
