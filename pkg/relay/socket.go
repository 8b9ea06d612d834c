package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// usualRuntime is where XDG_RUNTIME_DIR mostly is, by the account's number.
const usualRuntime = "/run/user"

// socketName is that of the socket in a folder for such things.
const socketName = "claude-fleet/serve.sock"

// Sockets gives the paths where a server of this account may listen, best first:
// in the folder for such things ($XDG_RUNTIME_DIR; cron and services are not told
// of it, so its usual place counts too), then in the account's state folder. No
// other account can make or guess any of them.
func Sockets() []string {
	out, _ := Places()
	return out
}

// Places is Sockets, and why the usual place of such a folder is none of them though
// it is there: it is another account's, or open to others.
func Places() (sockets []string, passed error) { return places(usualRuntime) }

func places(runtime string) (out []string, passed error) {
	add := func(folder string) {
		if path := filepath.Join(folder, socketName); filepath.IsAbs(folder) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	add(os.Getenv("XDG_RUNTIME_DIR"))
	if len(out) == 0 {
		usual := filepath.Join(runtime, strconv.Itoa(os.Getuid()))
		if err := ownFolder(usual); err == nil {
			add(usual)
		} else if !errors.Is(err, fs.ErrNotExist) {
			passed = err
		}
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		add(state)
	} else if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		add(filepath.Join(home, ".local", "state"))
	} else if home = here().Home; home != "" { // which may ask a directory service
		add(filepath.Join(home, ".local", "state"))
	}
	return out, passed
}

// ownFolder is nil if path is a folder of this account that no other can enter.
func ownFolder(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir():
		return fmt.Errorf("%s is no folder", path)
	case !ok || int(sys.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another account", path)
	case st.Mode()&0o077 != 0:
		return fmt.Errorf("%s may be entered by others (mode %04o)", path, st.Mode().Perm())
	}
	return nil
}

// ownGround is nil if the deepest folder of path that exists is of this account or
// of root: what is made there is then in nobody else's place, such as the home of
// who has called sudo.
func ownGround(path string) error {
	for {
		st, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
			path = filepath.Dir(path)
			continue
		}
		if err != nil {
			return err
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Getuid() && sys.Uid != 0 {
			return fmt.Errorf("%s belongs to another account", path)
		}
		return nil
	}
}

// ErrNoRuntime is that of an XDG_RUNTIME_DIR which is not there. The system makes it,
// at a login and with the modes that it has to have; one of ours would be in its way.
var ErrNoRuntime = errors.New("the folder that XDG_RUNTIME_DIR names is not there")

// ErrRunning is that of a server where another one holds the socket.
var ErrRunning = errors.New("a server runs already")

// listener is a socket that is listened on, and what makes it the only one.
type listener struct {
	*net.UnixListener
	path string
	lock *flock.Flock
	file os.FileInfo
}

// listen takes the socket at path. Who has the lock beside it is the only server,
// and may remove a socket that another has left.
func listen(path string) (*listener, error) {
	if n := len(path); n > maxSocketPath {
		return nil, fmt.Errorf("the path of the socket has %d bytes, and this system lets one have %d: %s", n, maxSocketPath, path)
	}
	folder := filepath.Dir(path)
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) && path == filepath.Join(runtime, socketName) {
		if _, err := os.Stat(runtime); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s", ErrNoRuntime, runtime)
		}
	}
	if err := ownGround(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := ownFolder(folder); err != nil {
		return nil, err
	}
	l := &listener{path: path, lock: flock.New(path+".lock", flock.SetPermissions(0o600))}
	ok, err := l.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%w: it holds %s", ErrRunning, path)
	}
	if err := l.open(); err != nil {
		_ = l.lock.Close()
		return nil, err
	}
	return l, nil
}

func (l *listener) open() error {
	if st, err := os.Lstat(l.path); err == nil {
		if st.Mode().Type() != fs.ModeSocket {
			return fmt.Errorf("%s is no socket", l.path)
		}
		if err := os.Remove(l.path); err != nil {
			return err
		}
	}
	var err error
	if l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Name: l.path, Net: "unix"}); err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	// The folder keeps others away meanwhile.
	if err = os.Chmod(l.path, 0o600); err == nil {
		l.file, err = os.Lstat(l.path)
	}
	if err != nil {
		_ = l.UnixListener.Close()
	}
	return err
}

// standing is whether the socket is still where callers look for it.
func (l *listener) standing() bool {
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(now, l.file)
}

// locked is whether the lock that it has is still what another would have to get.
func (l *listener) locked() bool {
	mine, err := l.lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(l.path + ".lock")
	return err == nil && os.SameFile(now, mine)
}

// remove takes the socket away, so that callers go direct at once.
func (l *listener) remove() {
	if l.standing() {
		_ = os.Remove(l.path)
	}
	_ = l.UnixListener.Close()
}

// peerError is why the other end of a socket is not spoken to.
type peerError struct{ err error }

func (e *peerError) Error() string { return e.err.Error() }
func (e *peerError) Unwrap() error { return e.err }

// checkPeer is nil if the process at the other end is of this account.
func checkPeer(c *net.UnixConn) error {
	uid, err := peerUID(c)
	if err == nil && uid != os.Getuid() {
		err = fmt.Errorf("its account is %d, and not %d", uid, os.Getuid())
	}
	if err != nil {
		return &peerError{err}
	}
	return nil
}

const (
	// greetDeadline bounds what a peer may take for its first frames.
	greetDeadline = 3 * time.Second
	// writeDeadline bounds the writing of one frame.
	writeDeadline = 30 * time.Second
)

// dial connects within patience to the server at path, if one of this account
// listens there.
func dial(ctx context.Context, path string, patience time.Duration) (*net.UnixConn, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path of the socket is too long: %s", path)
	}
	d := net.Dialer{Timeout: patience}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := checkPeer(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
