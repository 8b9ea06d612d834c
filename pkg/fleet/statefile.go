package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// StateFile keeps on this machine what was last known of a fleet's hosts, so that
// one run can tell what changed since the run before. It is locked as long as it is
// open: two runs never overlap. It is not safe for concurrent use.
type StateFile struct {
	// Seen is what the run before found, and Notified what a Notifier was last told:
	// a change that it could not be told stays one.
	Seen, Notified Marks

	path string
	lock *flock.Flock
}

// marksJSON is the form of the file.
type marksJSON struct {
	Version  int   `json:"version"`
	Seen     Marks `json:"seen"`
	Notified Marks `json:"notified"`
}

const marksVersion = 1

// maxMarks bounds what is read of a file of marks; a host takes some 200 bytes.
const maxMarks = 16 << 20

// StateFilePath is the file of marks of a table that belongs to it where no other is
// named: in claude-fleet/status of $XDG_STATE_HOME, else of ~/.local/state. It fails
// for want of a home folder.
func (t *Table) StateFilePath() (string, error) {
	folder := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) {
		home, err := homeDir()
		if err != nil {
			return "", &Error{Class: ClassUsage, Msg: "there is no home folder for the state file: " + systemReason(err), Hint: "name one with --state", Err: err}
		}
		folder = filepath.Join(home, ".local", "state")
	}
	abs, err := filepath.Abs(t.Path) // without a file: the current folder, which the one host is of
	if err != nil {
		return "", &Error{Class: ClassUsage, Msg: "the folder of the table has no path: " + systemReason(err), Hint: "name the state file with --state", Err: err}
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(folder, "claude-fleet", "status", hex.EncodeToString(sum[:6])+".json"), nil
}

var errNoMarks = errors.New("it is no file of marks")

// lockRetry is how often the lock is tried while another run holds it.
const lockRetry = 100 * time.Millisecond

// OpenStateFile opens the file of marks at path, which need not exist yet, and waits up
// to wait for another run to be done with it. The errors are *Error: of ClassRefused
// when another run is not done by then, else of ClassFailed. A file that is no file of
// marks is left as it is. The caller closes it.
func OpenStateFile(ctx context.Context, path string, wait time.Duration) (*StateFile, error) {
	failed := func(msg string, err error) error {
		return &Error{Class: ClassFailed, Msg: fmt.Sprintf("the state file %s %s: %s", quote(path), msg, systemReason(err)), Hint: "name another with --state, or remove it: what needs a person will then be told as new", Err: err}
	}
	// Looked at before anything is made beside it: it may be a device.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, failed("can't be read", errNoMarks)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, failed("can't be made", err)
	}
	m := &StateFile{path: path, lock: flock.New(path+".lock", flock.SetPermissions(0o600))}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := m.lock.TryLockContext(ctx, lockRetry)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, &Error{Class: ClassFailed, Msg: "broken off while another run held the state file", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &Error{Class: ClassRefused, Msg: fmt.Sprintf("another run holds the state file %s", quote(path)), Hint: "wait until it is done, or name another file with --state"}
	case err != nil:
		return nil, failed("can't be locked", err)
	}
	if err := m.read(); err != nil {
		_ = m.lock.Close()
		return nil, failed("can't be read", err)
	}
	return m, nil
}

func (m *StateFile) read() error {
	m.Seen, m.Notified = Marks{}, Marks{}
	info, err := os.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxMarks:
		return errNoMarks
	}
	data, err := os.ReadFile(m.path)
	if err != nil {
		return err
	}
	var j marksJSON
	if err := json.Unmarshal(data, &j); err != nil || j.Version != marksVersion {
		return errNoMarks
	}
	if j.Seen != nil {
		m.Seen = j.Seen
	}
	if j.Notified != nil {
		m.Notified = j.Notified
	}
	return nil
}

// Save writes the marks, all or nothing; those of hosts that keep does not list
// are left out, where it is not nil: give nil for a file that may have the marks of
// another table as well. The errors are *Error of ClassFailed.
func (m *StateFile) Save(keep []Host) error {
	seen, told := m.Seen, m.Notified
	if keep != nil {
		seen, told = kept(seen, keep), kept(told, keep)
	}
	err := func() error {
		data, err := json.Marshal(marksJSON{marksVersion, seen, told})
		if err != nil {
			return err
		}
		// Under the lock nobody else writes here, and a fixed name leaves no litter.
		next := m.path + ".new"
		_ = os.Remove(next)
		f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(append(data, '\n'))
		if err == nil {
			err = f.Sync()
		}
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = os.Rename(next, m.path)
		}
		if err != nil {
			_ = os.Remove(next)
		}
		return err
	}()
	if err != nil {
		return &Error{Class: ClassFailed, Msg: fmt.Sprintf("the state file %s can't be written: %s", quote(m.path), systemReason(err)), Hint: "what changed will be told again; name another file with --state", Err: err}
	}
	return nil
}

func kept(m Marks, hosts []Host) Marks {
	some := Marks{}
	for _, h := range hosts {
		if mark, ok := m[h.Name]; ok {
			some[h.Name] = mark
		}
	}
	return some
}

// Close lets the next run have the file. The lock's own file stays: to remove it
// could give two runs a lock each.
func (m *StateFile) Close() error { return m.lock.Close() }
