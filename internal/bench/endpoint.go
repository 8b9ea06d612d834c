package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// endpoint is one account on the ground. In each of its sessions a program named
// claude sleeps beneath a screen of the real client, with the files that a client
// which waits for a prompt would have written.
type endpoint struct {
	name   string // its ssh alias
	ground *ground
	public []byte // the line of authorized_keys
	apart  bool   // it is none of a fleet's
	forced string // the command that its key is for; empty is any
	server int    // the process of its tmux server
}

func (g *ground) newEndpoint(number int, apart bool) *endpoint {
	return &endpoint{name: fmt.Sprintf("e%03d", number), ground: g, apart: apart}
}

func (e *endpoint) dir() string  { return e.ground.path(e.name) }
func (e *endpoint) home() string { return filepath.Join(e.dir(), "home") }
func (e *endpoint) key() string  { return filepath.Join(e.dir(), "key") }

// env is what a process on the endpoint has in its environment. The place of the
// tmux sockets is one that the rig's reaper knows.
func (e *endpoint) env() []string {
	return []string{
		"HOME=" + e.home(),
		"TMUX_TMPDIR=" + filepath.Join(e.dir(), "t"),
		"PATH=" + e.ground.path("bin") + ":" + filepath.Dir(e.ground.tmux) + ":/usr/local/bin:/usr/bin:/bin",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
	}
}

// folderOf is the workdir of a session, below the home.
func folderOf(session string) string { return "work/" + session }

// make puts the endpoint on disk and starts its sessions, each in a repository of its
// own and with a conversation of its own.
func (e *endpoint) make(ctx context.Context, sessions []string) error {
	if err := os.MkdirAll(filepath.Join(e.dir(), "t"), 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(e.home(), os.DirFS(e.ground.path("template/home"))); err != nil {
		return err
	}
	if err := e.writeKey(); err != nil {
		return err
	}
	for i, s := range sessions {
		id, folder := conversationOf(i+1), filepath.Join(e.home(), folderOf(s))
		project := filepath.Join(e.home(), ".claude", "projects", transcript.Slug(folder))
		if err := os.Mkdir(project, 0o700); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(project, id+".jsonl"), history(id)); err != nil {
			return err
		}
		if err := os.CopyFS(folder, os.DirFS(e.ground.path("template/work"))); err != nil {
			return err
		}
		// The copies are other files than those that the index knows: without this
		// each look would read them all.
		if _, err := e.ground.on(ctx, e, "git", "-C", folder, "status"); err != nil {
			return err
		}
		if _, err := e.ground.on(ctx, e, e.ground.tmux, "-u", "new-session", "-d", "-s", s, "-x", "120", "-y", "40", "-c", folder, "client "+id); err != nil {
			return err
		}
	}
	pid, err := e.ground.on(ctx, e, e.ground.tmux, "display-message", "-p", "#{pid}")
	if err != nil {
		return err
	}
	if e.server, err = strconv.Atoi(strings.TrimSpace(pid)); err != nil {
		return err
	}
	files := filepath.Join(e.home(), ".claude", "sessions")
	return eventually(ctx, e.name+": the clients are up", func() bool {
		there, err := os.ReadDir(files)
		return err == nil && len(there) == len(sessions)
	})
}

func (e *endpoint) writeKey() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, e.name)
	if err != nil {
		return err
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return err
	}
	e.public = ssh.MarshalAuthorizedKey(public)
	return writeFile(e.key(), pem.EncodeToMemory(block))
}

// conversationOf is the id of the one that the client of an endpoint's session has open.
func conversationOf(number int) string {
	return fmt.Sprintf("5f1d2c3b-0a49-4e58-8b67-%012x", number)
}

// clientScript is the command of a session. It leaves the session's file behind as
// the client does, named by the process that it becomes. Its argument is the id of the
// conversation.
const clientScript = `#!/bin/sh
cat '%[1]s/screen'
stat=$(cat "/proc/$$/stat" 2>/dev/null); set -f; set -- "$1" $(set -- ${stat##*) }; echo "${20}"); set +f
mkdir -p "$HOME/.claude/sessions"
place=$(tmux -u display-message -p -t "$TMUX_PANE" '#{session_name}:#{window_id}.#{pane_id}')
f=$HOME/.claude/sessions/$$.json
printf '{"pid":%%s,"sessionId":"%%s","cwd":"%%s","startedAt":1796000000000,"procStart":"%%s","version":"2.1.332","kind":"interactive","entrypoint":"cli","tmux":"%%s","status":"idle","updatedAt":1796000001000,"statusUpdatedAt":1796000001000}' "$$" "$1" "$PWD" "$2" "$place" >"$f.new"
mv "$f.new" "$f"
exec '%[1]s/bin/claude' 1000000
`

// template makes what all endpoints get a copy of.
func (g *ground) template(ctx context.Context) error {
	home, work := g.path("template/home"), g.path("template/work")
	for _, d := range []string{g.path("bin"), g.path("template/t"), filepath.Join(home, ".claude", "projects"), filepath.Join(work, "src")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		return err
	}
	screen, err := shownScreen()
	if err != nil {
		return err
	}
	for path, text := range map[string][]byte{
		g.path("bin/claude"):                            sleep,
		g.path("bin/client"):                            fmt.Appendf(nil, clientScript, g.dir),
		g.path("screen"):                                screen,
		filepath.Join(home, ".claude.json"):             []byte(`{"hasCompletedOnboarding":true,"tips":"` + strings.Repeat("x", 60_000) + `"}`),
		filepath.Join(home, ".claude", "settings.json"): []byte("{}\n"),
		filepath.Join(home, ".gitconfig"):               []byte("[user]\n\tname = Bench\n\temail = bench@example.invalid\n"),
	} {
		if err := os.WriteFile(path, text, 0o700); err != nil {
			return err
		}
	}
	// What an account starts with, where the system says so.
	if rc, err := os.ReadFile("/etc/skel/.bashrc"); err == nil {
		if err := writeFile(filepath.Join(home, ".bashrc"), rc); err != nil {
			return err
		}
	}
	for i := range 100 {
		if err := writeFile(filepath.Join(work, "src", fmt.Sprintf("file%03d.txt", i)), fmt.Appendf(nil, "file %d\n", i)); err != nil {
			return err
		}
	}
	upstream := g.path("upstream.git")
	e := &endpoint{name: "template", ground: g}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", upstream},
		{"-C", work, "init", "-q", "--template=", "-b", "main"},
		{"-C", work, "add", "."},
		{"-C", work, "commit", "-q", "-m", "Begin"},
		{"-C", work, "remote", "add", "origin", upstream},
		{"-C", work, "push", "-q", "-u", "origin", "main"},
		{"-C", work, "repack", "-adq"},
	} {
		if _, err := g.on(ctx, e, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// recorded is a screen of the real client that waits for a prompt, from the corpus of
// pkg/detect; mark is in its last row.
const (
	recorded = "pkg/detect/testdata/screens/2.1.332-120x40/ready-markdown"
	mark     = "bypass permissions on"
)

// shownScreen is the recorded screen as a terminal takes it, with the title and the
// cursor of its record.
func shownScreen() ([]byte, error) {
	screen, err := os.ReadFile(recorded + ".ansi")
	if err != nil {
		return nil, fmt.Errorf("the screen to show (start this in the root of the repository): %w", err)
	}
	meta, err := os.ReadFile(recorded + ".meta")
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(screen, []byte(mark)) {
		return nil, fmt.Errorf("%s.ansi lacks %q", recorded, mark)
	}
	var x, y int
	_, cursor, _ := bytes.Cut(meta, []byte("cursor="))
	if _, err := fmt.Sscanf(string(cursor), "%d,%d", &x, &y); err != nil {
		return nil, fmt.Errorf("%s.meta: cursor: %w", recorded, err)
	}
	b := []byte("\x1b[?1049h\x1b]2;✳ Claude Code\a")
	for i, row := range bytes.Split(bytes.TrimSuffix(screen, []byte("\n")), []byte("\n")) {
		b = append(fmt.Appendf(b, "\x1b[%d;1H", i+1), row...)
	}
	return fmt.Appendf(b, "\x1b[0m\x1b[%d;%dH", y+1, x+1), nil
}

// history is a conversation of some 400 kB, whose records are as long as usual.
func history(id string) []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"%s","timestamp":"2026-11-30T10:00:00.000Z","message":{"role":"user","content":"prompt %d"}}`+"\n", i, id, i)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","sessionId":"%s","timestamp":"2026-11-30T10:00:01.000Z","message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"%s"}]}}`+"\n", i, id, strings.Repeat("word ", 360))
	}
	return b.Bytes()
}
