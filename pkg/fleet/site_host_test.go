package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// madeHost is a home with programs that note that they were called, on which the
// real sh runs what a site asks.
type madeHost struct {
	home, bin, log string
	shell          []string
	env            []string
}

// watched are the programs that are noted.
var watched = []string{"git", "stat", "df", "date", "grep", "readlink", "timeout", "sed"}

func makeHost(t *testing.T) *madeHost {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &madeHost{home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "bin"), log: filepath.Join(dir, "log"), shell: []string{"sh"}}
	for _, d := range []string{h.home, h.bin} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range watched {
		h.program(t, name, "exec "+realPath(t, name)+` "$@"`)
	}
	if err := os.Symlink(realPath(t, "true"), filepath.Join(h.bin, "true")); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"HOME=" + h.home, "PATH=" + h.bin, "GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8", "TZ=UTC"}
	h.write(t, ".gitconfig", "[user]\n name = a\n email = a@b.c\n[init]\n defaultBranch = main\n[protocol \"file\"]\n allow = always\n")
	return h
}

func realPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// program puts a program first in the host's PATH. It is noted when it is called.
func (h *madeHost) program(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.bin, name)
	text = fmt.Sprintf("#!/bin/sh\necho %s >>%s\n%s\n", name, h.log, text)
	if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (h *madeHost) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sh runs a script of the host's owner, in its home.
func (h *madeHost) sh(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = h.home, slices.Concat(os.Environ(), h.env[:1], h.env[2:])
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs a site.
func (h *madeHost) run(t *testing.T, s site) []byte {
	t.Helper()
	return h.runText(t, s.fragment())
}

func (h *madeHost) runText(t *testing.T, fragment string) []byte {
	t.Helper()
	sections := transport.NewSections()
	sections.Add("site", fragment)
	cmd := exec.Command(realPath(t, h.shell[0]), append(h.shell[1:], "-c", sections.Script())...)
	cmd.Dir, cmd.Env = h.home, h.env
	var noise strings.Builder
	cmd.Stderr = &noise
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the script: %v: %s", err, noise.String())
	}
	parts, err := sections.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	return parts["site"].Out
}

// look runs a site, and tells which programs it called, sorted.
func (h *madeHost) look(t *testing.T, m *memory, workdirs ...string) (siteSeen, string) {
	t.Helper()
	if err := os.WriteFile(h.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(m, workdirs...)
	seen := s.parse(h.run(t, s))
	log, err := os.ReadFile(h.log)
	if err != nil {
		t.Fatal(err)
	}
	called := strings.Fields(string(log))
	slices.Sort(called)
	return seen, strings.Join(called, " ")
}

// settle has the machine's clock taken to be ahead, so that files which were just
// written count as settled. It holds for the next look but one.
func settle(m *memory) { m.offset += time.Hour }

// git is the summary of one folder as text.
func (s siteSeen) git(workdir string) string {
	g := s.folders[workdir].git
	if g == nil {
		return "none"
	}
	text := fmt.Sprintf("%s +%d -%d *%d", g.Branch, g.Ahead, g.Behind, g.Dirty)
	if g.LastCommit != nil {
		text += " " + g.LastCommit.Subject
	}
	if g.UntrackedSkipped {
		text += " tracked"
	}
	return text
}

const makeRepo = `git init -q app; cd app; echo 1 >f; mkdir sub; echo 1 >sub/g; git add .; git commit -qm one; `

// TestSiteRepositories has every kind of folder told right, under each sh, and told
// the same when it is asked for again.
func TestSiteRepositories(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "bash", "bash --posix", "zsh --emulate sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				name, make, dir, path, want string
				env                         []string
				again                       bool // nothing is asked a second time
			}{
				{name: "plain", make: makeRepo + "echo 2 >f; echo x >new", dir: "~/app", want: "main +0 -0 *2 one", again: true},
				{name: "ahead and behind", make: makeRepo + "cd ..; git clone -q app c; cd app; echo 2 >f; git commit -qam two; cd ../c; git commit -q --allow-empty -m mine; git commit -q --allow-empty -m more; git fetch -q", dir: "~/c", want: "main +2 -1 *0 more", again: true},
				{name: "a folder in it", make: makeRepo + "echo 2 >f", dir: "~/app/sub", want: "main +0 -0 *1 one", again: true},
				{name: "a link to it", make: makeRepo + "cd ..; ln -s app link", dir: "~/link", path: "app", want: "main +0 -0 *0 one", again: true},
				{name: "a worktree", make: makeRepo + "git worktree add -q ../w -b side; cd ../w; git commit -q --allow-empty -m two; echo >x", dir: "~/w", want: "side +0 -0 *1 two", again: true},
				{name: "a submodule", make: makeRepo + "cd ..; git init -q top; cd top; git submodule add -q ../app m 2>/dev/null; git commit -qm top; cd m; echo >x", dir: "~/top/m", want: "main +0 -0 *1 one", again: true},
				{name: "around a submodule that was changed", make: makeRepo + "cd ..; git init -q top; cd top; git submodule add -q ../app m 2>/dev/null; git commit -qm top; cd m; echo >x", dir: "~/top", want: "main +0 -0 *0 top", again: true},
				{name: "around one that moved", make: makeRepo + "cd ..; git init -q top; cd top; git submodule add -q ../app m 2>/dev/null; git commit -qm top; cd m; git commit -q --allow-empty -m two", dir: "~/top", want: "main +0 -0 *1 top", again: true},
				{name: "no commit", make: "git init -q app; echo >app/x", dir: "~/app", want: "main +0 -0 *1", again: true},
				{name: "detached", make: makeRepo + "git checkout -q --detach", dir: "~/app", want: "(detached) +0 -0 *0 one", again: true},
				{name: "packed", make: makeRepo + "git pack-refs --all", dir: "~/app", want: "main +0 -0 *0 one", again: true},
				{name: "a branch with slashes", make: makeRepo + "git checkout -q -b 'a/b$c'", dir: "~/app", want: "a/b$c +0 -0 *0 one", again: true},
				{name: "bare", make: makeRepo + "git clone -q --bare . ../b", dir: "~/b", want: "main +0 -0 *-1 one", again: true},
				{name: "no repository", make: "mkdir d", dir: "~/d", want: "none", again: true},
				{name: "a .git that is none, in a repository", make: makeRepo + "mkdir sub/.git; echo 2 >f", dir: "~/app/sub", want: "main +0 -0 *1 one", again: true},
				{name: "a HEAD that never ends", make: makeRepo + "rm .git/HEAD; mkfifo .git/HEAD", dir: "~/app", want: "none"},
				{name: "settings that never end", make: makeRepo + "git config include.path more; mkfifo .git/more", dir: "~/app", want: "none"},
				{name: "names that never end", make: makeRepo + "mkfifo .mailmap", dir: "~/app", want: "main +0 -0 *0 one", again: true},
				{name: "a folder above that never ends", make: makeRepo + "rm .git/index; rmdir .git/branches || :; mkfifo .git/commondir", dir: "~/app", want: "none"},
				{name: "an account that never ends", make: "mkdir d .claude; mkfifo .claude.json; echo >.claude/settings.json", dir: "~/d", want: "none", again: true},
				{name: "a colon in its name", make: makeRepo + "cd ..; mv app a:b", dir: "~/a:b", want: "main +0 -0 *-1 one", again: true},
				{name: "no folder", make: ":", dir: "~/nowhere", path: "-", want: "none", again: true},
				{name: "a line feed in its name", make: makeRepo + "cd ..; mv app 'a\nb'", dir: "~/a\nb", want: "main +0 -0 *0 one"},
				{name: "quotes and stars in its name", make: makeRepo + `cd ..; mv app "a'b *"`, dir: "~/a'b *", want: "main +0 -0 *0 one", again: true},
				{name: "HEAD is a link", make: makeRepo + "ln -sf refs/heads/main .git/HEAD", dir: "~/app", want: "main +0 -0 *0 one"},
				{name: "the branch is another's name", make: makeRepo + "git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref HEAD refs/heads/alias", dir: "~/app", want: "main +0 -0 *0 one"},
				{name: "called from a hook of another", make: makeRepo + "echo 2 >f; cd ..; git init -q other", dir: "~/app", env: []string{"GIT_DIR=other/.git", "GIT_INDEX_FILE=other/.git/index", "GIT_WORK_TREE=other", "GIT_PREFIX=x/", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
					"GIT_CONFIG_PARAMETERS='status.branch'='nonsense'", "GIT_LITERAL_PATHSPECS=1", "GIT_GLOB_PATHSPECS=1", "GIT_NOGLOB_PATHSPECS=1", "GIT_ICASE_PATHSPECS=1", "GIT_SHALLOW_FILE=/x"}, want: "main +0 -0 *1 one", again: true},
				{name: "a log in another encoding", make: makeRepo + "git commit -q --allow-empty -m 'one ੥੦'; git config i18n.logOutputEncoding UTF-16BE", dir: "~/app", want: "main +0 -0 *0 one ੥੦", again: true},
				{name: "commits in another encoding", make: makeRepo + "git commit -q --allow-empty -m 'one ੥੦'; git config i18n.commitEncoding UTF-16BE", dir: "~/app", want: "main +0 -0 *0 one ੥੦", again: true},
				{name: "refused", make: makeRepo, dir: "~/app", env: []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}, want: "none", again: true},
			} {
				t.Run(c.name, func(t *testing.T) {
					h := makeHost(t)
					h.shell = strings.Fields(shell)
					h.sh(t, c.make)
					h.env = append(h.env, c.env...)
					m := newMemory()
					for look := 1; look <= 3; look++ {
						seen, called := h.look(t, m, c.dir)
						if got := seen.git(c.dir); got != c.want {
							t.Fatalf("look %d: %q, want %q", look, got, c.want)
						}
						path := filepath.Join(h.home, strings.TrimPrefix(c.dir, "~/"))
						switch c.path {
						case "":
						case "-":
							path = ""
						default:
							path = filepath.Join(h.home, c.path)
						}
						if got := seen.folders[c.dir].path; got != path {
							t.Errorf("its path: %q, want %q", got, path)
						}
						if (seen.folders[c.dir].disk == nil) != (path == "") {
							t.Errorf("look %d: its disk is %v", look, seen.folders[c.dir].disk)
						}
						settle(m)
						if look < 3 {
							continue
						}
						if c.again != (called == "stat") {
							t.Errorf("the third look called %s", called)
						}
					}
				})
			}
		})
	}
}
