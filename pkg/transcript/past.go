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
	return configDir + fmt.Sprintf(`cd -- "$base/projects/%s" 2>/dev/null || exit 0
ls -t -- *.jsonl 2>/dev/null | head -n 16 | while IFS= read -r f; do
  LC_ALL=C grep -a -q '"type":"user"' "$f" || continue
  printf '%s %%s %%s\n' "${f%%.jsonl}" "$(LC_ALL=C grep -a -m 1 '"type":"user"' "$f" | LC_ALL=C grep -a -o '"cwd":"[^"]*"' | head -n 1)"
done
:
`, Slug(q.dir), q.nonce)
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
