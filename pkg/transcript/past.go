package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
)

// PastQuery asks for the conversations of one directory.
type PastQuery struct {
	Query
	dir string
}

// NewPastQuery asks for the conversations of dir, an absolute path without
// symbolic links, as the client names it.
func NewPastQuery(dir string) PastQuery { return PastQuery{NewQuery(), dir} }

// Fragment is the sh text of the query. It prints the newest conversations in
// which a prompt was given, with the directory that each record names: two
// directories can share one folder.
func (q PastQuery) Fragment() string {
	folder := Slug(q.dir)
	if len(folder) > maxSlug {
		folder = folder[:maxSlug] + "-*"
	}
	return configDir + fmt.Sprintf(`cd -- "$base/projects" 2>/dev/null || exit 0
ls -t -- ./%[1]s/*.jsonl 2>/dev/null | head -n 16 | while IFS= read -r f; do
  [ -f "$f" ] || continue
  prompt=$(LC_ALL=C grep -a -m 1 '"type":"user"' "$f" 2>/dev/null) || continue
  name=${f##*/}
  printf '%[2]s %%s %%s\n' "${name%%.jsonl}" "$(printf '%%s\n' "$prompt" | LC_ALL=C grep -a -o -E '"cwd":"([^"\]|\\.)*"' | head -n 1)"
done
:
`, folder, q.nonce)
}

// Parse returns the ids of the directory's conversations, newest first.
func (q PastQuery) Parse(out []byte) []string {
	var ids []string
	for line := range strings.Lines(string(out)) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), q.nonce+" ")
		if !ok {
			continue
		}
		id, cwd, _ := strings.Cut(rest, " ")
		var dir string
		if json.Unmarshal([]byte(strings.TrimPrefix(cwd, `"cwd":`)), &dir) != nil || dir != q.dir || safeID(id) != id {
			continue
		}
		ids = append(ids, id)
	}
	return ids
}
