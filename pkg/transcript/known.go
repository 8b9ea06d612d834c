package transcript

import (
	"bytes"
	"path"
	"strconv"
	"strings"
)

// file is what is known of a conversation's file without reading it.
type file struct {
	size   int64
	mark   string // its inode, size and times; empty where the machine can't tell
	folder string // its project's; empty where that can't go into a script
}

// maxKnown bounds what a script has in one variable of its environment.
const maxKnown = 256

// Knowing is the query for a machine of which an earlier one gave last: the end of
// a conversation whose file is as it was then is not read again. It finds the same
// as without.
func (q Query) Knowing(last []Session) Query {
	q.known, q.last = map[string]Session{}, last
	for _, s := range last {
		if len(q.known) < maxKnown && s.file.mark != "" && s.ID != "" && safeID(s.ID) == s.ID {
			q.known[s.ID] = s
		}
	}
	return q
}

// InPlace has the query look for each conversation that is known in the folder alone
// where it was, and in all of them only if it is there no more. That another folder has
// a newer file of it since then goes unseen: it is for who asks without it every few
// seconds.
func (q Query) InPlace() Query {
	q.inPlace = true
	return q
}

// LonePIDs is the shell variable that a query leaves, see Query.Under.
const LonePIDs = "fleet_lone"

// Under limits the query to what a look at some panes needs: the end of a
// conversation comes only of clients that descend from a process which the shell
// variable panes has where the fragment runs, and Session.Line says how.
//
// Behind the fragment the shell variable LonePIDs has those processes of the
// variable due that no client was seen to descend from which is awake, has their
// terminal's foreground, and says in its file that it is one. Nothing more is known
// of them: the process table has to be asked. The variables hold process ids with
// blanks between them.
func (q Query) Under(panes, due string) Query {
	q.panes, q.due = panes, due
	return q
}

// Processes are the processes that the fragment printed, whether or not what a
// client's file says of it can be read: it goes by less of a file than Parse does
// when it tells that nobody else need be asked for.
func (q Query) Processes(out []byte) []Process {
	var all []Process
	for line := range bytes.Lines(out) {
		if record, ok := bytes.CutPrefix(line, []byte(q.nonce+" process ")); ok {
			if p, ok := parseProcess(string(bytes.TrimSuffix(record, []byte("\n")))); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// parseFile reads the record of a conversation's file: size, inode, times, path.
func parseFile(record string) (id string, f file, ok bool) {
	fields := strings.SplitN(record, "\t", 6)
	if len(fields) != 6 {
		return "", file{}, false
	}
	id, ok = strings.CutSuffix(path.Base(fields[5]), ".jsonl")
	size, err := strconv.ParseInt(fields[0], 10, 64)
	if !ok || err != nil || safeID(id) != id {
		return "", file{}, false
	}
	f.size = size
	if folder := path.Base(path.Dir(fields[5])); safeFolder(folder) {
		f.folder = folder
	}
	if fields[2] != "" {
		f.mark = strings.Join(fields[:5], "\t")
	}
	if strings.Trim(f.mark, markLetters) != "" {
		f.mark = "" // it goes into a script
	}
	return id, f, true
}

// parseProcess reads the record of a process: id, parent, foreground, state, name.
func parseProcess(record string) (Process, bool) {
	fields := strings.SplitN(record, " ", 5)
	if len(fields) != 5 {
		return Process{}, false
	}
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(fields[i]); err != nil {
			return Process{}, false
		}
	}
	return Process{PID: n[0], Parent: n[1], Foreground: n[2], State: fields[3], Name: fields[4]}, true
}

// safeFolder is whether the name of a project's folder is made of what Slug leaves.
func safeFolder(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}
