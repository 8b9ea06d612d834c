package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// planted are settings of a repository that have git run a command, which notes its
// name in the home.
var planted = map[string]string{
	"fsmonitor":      `git config core.fsmonitor "$p"`,
	"hooks":          `mkdir ../hooks; for k in post-index-change post-checkout reference-transaction pre-auto-gc; do cp "$p" ../hooks/$k; done; cp ../hooks/* .git/hooks; git config core.hooksPath ../hooks`,
	"signature":      `git config log.showSignature true; git config gpg.program "$p"; c=$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin); git update-ref HEAD $c`,
	"diff":           `git config diff.external "$p"; git config diff.x.textconv "$p"; git config diff.x.command "$p"; echo '* diff=x' >.gitattributes`,
	"pager":          `git config core.pager "$p"; git config pager.status "$p"; git config pager.log "$p"`,
	"alias":          `git config alias.status "!$p"; git config alias.log "!$p"`,
	"clean":          `git config filter.x.clean "$p"; git config filter.x.required true; echo '* filter=x' >.gitattributes; touch f`,
	"process":        `git config FILTER.x.process "$p"; echo '* filter=x' >.git/info/attributes; touch f`,
	"clean include":  `git config -f ../more filter.x.clean "$p"; git config include.path "$HOME/more"; echo '* filter=x' >.gitattributes; touch f`,
	"clean worktree": `git config extensions.worktreeConfig true; git config --worktree filter.x.clean "$p"; echo '* filter=x' >.gitattributes; touch f`,
	"clean lfs":      `git config lfs.extension.x.clean "$p"; git config lfs.extension.x.smudge "$p"; git config lfs.extension.x.priority 0; git config --global filter.lfs.clean "for c in \$(git config lfs.extension.x.clean); do \$c; done"; echo '* filter=lfs' >.gitattributes; touch f`,
	"clean far down": `for i in $(seq 120); do git config "branch.b$i.remote" origin; done; git config filter.x.clean "$p"; echo '* filter=x' >.gitattributes; touch f`,
	"fetch": `git config core.sshCommand "$p"; git config remote.origin.url ssh://nowhere/x; git config remote.origin.promisor true; git config core.repositoryformatversion 1; git config extensions.partialClone origin; ` +
		`seq 1000 >big; git add big; git commit -qm big; git mv big large; echo x >>large; git add large; rm .git/objects/$(git rev-parse HEAD:big | sed 's,^..,&/,')`,
	"submodule": `cd ..; git init -q in; cd in; echo 1 >f; git add f; git commit -qm in; cd ../app; git submodule add -q ../in m 2>/dev/null; git commit -qm m; cd m; git config core.fsmonitor "$p"; git config filter.x.clean "$p"; echo '* filter=x' >.gitattributes; touch f`,
}

// TestSiteRunsNothing has a repository whose settings name commands. None is run,
// and nothing in the repository is written. Its twin asks git as a person does, by
// which each command is run.
func TestSiteRunsNothing(t *testing.T) {
	t.Parallel()
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := makeHost(t)
			// The file's times are out of date, so that git has to compare it.
			h.sh(t, `printf '#!/bin/sh\necho "$0" >>"$HOME/ran"\ncase "$*" in *upload-pack*) exit 1 ;; esac\ncat\nexit 0\n' >evil; chmod 700 evil; p=$HOME/evil; `+makeRepo+plant+`; cd "$HOME"; find . -name f -exec touch -d '2001-01-01' {} +; rm -f ran`)
			ran := func() string {
				out, err := os.ReadFile(filepath.Join(h.home, "ran"))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return string(out)
			}
			const files = `find . -path ./ran -prune -o -type f -exec stat -c '%n %s %y %z %i' {} + | sort`
			before := h.sh(t, files)
			m := newMemory()
			for range 3 {
				seen, _ := h.look(t, m, "~/app")
				if g := seen.folders["~/app"].git; g == nil || g.Branch != "main" || g.LastCommit == nil {
					t.Errorf("it is told as %s", seen.git("~/app"))
				} else if strings.Contains(name, "clean") || name == "process" {
					if g.Dirty != -1 {
						t.Errorf("files were compared: %d differ", g.Dirty)
					}
				} else if g.Dirty < 0 && name != "fetch" {
					t.Errorf("nothing was counted")
				}
				m.folders["~/app"].repo.lease = lease{}
			}
			if got := ran(); got != "" {
				t.Errorf("it ran %q", got)
			}
			if after := h.sh(t, files); after != before {
				t.Errorf("files were written:\n%s\n\nwas:\n%s", after, before)
			}
			if name == "diff" || name == "pager" || name == "alias" {
				return // git runs these neither in a pipe nor for its own commands
			}
			h.sh(t, `cd app; git status >/dev/null 2>&1 || :; git log -1 >/dev/null 2>&1 || :`)
			if ran() == "" {
				t.Error("nobody runs it, and so this proves nothing")
			}
		})
	}
}

// TestSiteOwnFilter has the account's own filter run, as it is for everybody: files
// that are kept elsewhere would all count as changed without it.
func TestSiteOwnFilter(t *testing.T) {
	t.Parallel()
	h := makeHost(t)
	h.sh(t, `git config --global filter.up.clean 'sed y/low/LOW/'; git init -q app; cd app; echo '*.t filter=up' >.gitattributes; echo low >x.t; git add .; git commit -qm one; touch -d 2001-01-01 x.t; git config branch.filter.remote x`)
	if s, _ := h.look(t, nil, "~/app"); s.git("~/app") != "main +0 -0 *0 one" {
		t.Errorf("it is told as %s", s.git("~/app"))
	}
}

// TestSiteFilterLimits has the settings asked for a filter on hosts whose timeout is of
// no use, in its various ways: that it says nothing is not taken for an answer.
func TestSiteFilterLimits(t *testing.T) {
	t.Parallel()
	for _, timeout := range []string{"exec " + realPath(t, "timeout") + ` "$@"`, "exit 0", "exit 1", "exit 127"} {
		h := makeHost(t)
		h.program(t, "timeout", timeout)
		h.program(t, "sleep", "exec "+realPath(t, "sleep")+` "$@"`)
		h.sh(t, `printf '#!/bin/sh\necho >>"$HOME/ran"\ncat\n' >evil; chmod 700 evil; `+makeRepo+`git config filter.x.clean "$HOME/evil"; echo '* filter=x' >.git/info/attributes; touch -d 2001-01-01 f`)
		if s, _ := h.look(t, nil, "~/app"); timeout != "exit 0" && s.git("~/app") != "main +0 -0 *-1 one" {
			t.Errorf("%s: %s", timeout, s.git("~/app"))
		}
		if _, err := os.Stat(filepath.Join(h.home, "ran")); err == nil {
			t.Errorf("%s: it ran the filter", timeout)
		}
	}
}

// TestSiteSlow has a git that hangs as it counts, on a machine with and without a
// timeout command.
func TestSiteSlow(t *testing.T) {
	t.Parallel()
	for _, timeout := range []bool{true, false} {
		h := makeHost(t)
		h.sh(t, makeRepo+"git checkout -q -b side")
		git := realPath(t, "git")
		// exec, so that it is the process that is ended.
		h.program(t, "git", `case "$*" in *none*) ;; *status*) exec `+realPath(t, "sleep")+` 61.5 ;; esac; exec `+git+` "$@"`)
		h.program(t, "sleep", "exec "+realPath(t, "sleep")+` "$@"`)
		if !timeout {
			if err := os.Remove(filepath.Join(h.bin, "timeout")); err != nil {
				t.Fatal(err)
			}
		}
		m := newMemory()
		began := time.Now()
		if s, _ := h.look(t, m, "~/app"); s.git("~/app") != "side +0 -0 *-1 one" {
			t.Errorf("timeout %v: %s", timeout, s.git("~/app"))
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("timeout %v: it took %s", timeout, took)
		}
		settle(m)
		// What was too slow is not tried again at once, although there is news.
		h.sh(t, "cd app; "+git+" commit -q --allow-empty -m two")
		if s, called := h.look(t, m, "~/app"); s.git("~/app") != "side +0 -0 *-1 two" {
			t.Errorf("timeout %v: a commit: %s by %s", timeout, s.git("~/app"), called)
		}
		settle(m)
		m.folders["~/app"].repo.from = time.Now().Add(-factAge)
		h.program(t, "git", "exec "+git+` "$@"`)
		if s, called := h.look(t, m, "~/app"); s.git("~/app") != "side +0 -0 *0 two" {
			t.Errorf("timeout %v: later: %s by %s", timeout, s.git("~/app"), called)
		}
	}
}

// TestSiteManySlow has several repositories that are too slow to count, and some that
// never end: the look ends, and what comes first is told.
func TestSiteManySlow(t *testing.T) {
	t.Parallel()
	for _, timeout := range []string{"exec " + realPath(t, "timeout") + ` "$@"`, `[ "$1" = -t ] || exit 1; shift; exec ` + realPath(t, "timeout") + ` "$@"`} {
		h := makeHost(t)
		h.program(t, "timeout", timeout) // the second is busybox's of before 1.30
		h.program(t, "sleep", "exec "+realPath(t, "sleep")+` "$@"`)
		h.sh(t, makeRepo+`cd ..; for n in 1 2 3 4 5 6 7 8; do cp -r app s$n; done; for n in 4 5 6 7; do rm s$n/.git/HEAD; mkfifo s$n/.git/HEAD; done`)
		h.program(t, "git", `case "$*" in *none*) ;; *status*) exec `+realPath(t, "sleep")+` 61.75 ;; esac; exec `+realPath(t, "git")+` "$@"`)
		began := time.Now()
		s, _ := h.look(t, nil, "~/s1", "~/s2", "~/s3", "~/s4", "~/s5", "~/s6", "~/s7", "~/s8")
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("it took %s", took)
		}
		if s.git("~/s1") != "main +0 -0 *-1 one" || s.git("~/s3") != "main +0 -0 *-1 one" || s.folders["~/s8"].disk == nil {
			t.Errorf("%s, %s, %v", s.git("~/s1"), s.git("~/s3"), s.folders["~/s8"].disk)
		}
	}
}

// TestSiteSham has what is no repository though it looks like one, in a repository whose
// settings name a filter: git would see through it and run that. Its twin, without the
// filter's name, shows that nothing else forbids the count.
func TestSiteSham(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ make, want string }{
		"an empty .git":         {"mkdir sub/.git; echo >sub/.git/config", "main +0 -0 *-1 one"},
		"a HEAD that is none":   {"mkdir -p sub/.git/objects sub/.git/refs; echo >sub/.git/config; echo x >sub/.git/HEAD", "none"},
		"a bare one":            {"mkdir -p sub/objects sub/refs; echo >sub/config; echo x >sub/HEAD", "none"},
		"settings of two names": {`git worktree add -q ../w -b side; w=$(cat ../w/.git); printf '%s\n%s' "gitdir: $HOME/sham" x >../w/.git; mkdir ../sham; echo >../sham/config; mv "${w#gitdir: }" "$HOME/sham` + "\n" + `x"; echo "$PWD/.git" >"$HOME/sham` + "\n" + `x/commondir"`, "side +0 -0 *-1 one"},
	} {
		h := makeHost(t)
		h.sh(t, `printf '#!/bin/sh\necho >>"$HOME/ran"\ncat\n' >evil; chmod 700 evil; `+makeRepo+`git config filter.x.clean "$HOME/evil"; echo '* filter=x' >.git/info/attributes; `+c.make+`; touch -d 2001-01-01 f sub/g; rm -f "$HOME/ran"; [ ! -e ../w ] || touch -d 2001-01-01 ../w/f`)
		dir := "~/app/sub"
		if strings.HasPrefix(c.want, "side") {
			dir = "~/w"
		}
		if s, _ := h.look(t, nil, dir); s.git(dir) != c.want {
			t.Errorf("%s: %s", name, s.git(dir))
		}
		if _, err := os.Stat(filepath.Join(h.home, "ran")); err == nil {
			t.Errorf("%s: it ran the filter", name)
		}
	}
}

// TestSiteLarge has a repository whose index is large (by long names, which is
// quicker than by many): files that git does not know are not looked for. Its twin is a little smaller.
func TestSiteLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files string
		want  string
	}{
		{"7000", "main +0 -0 *7000 one tracked"},
		{"3500", "main +0 -0 *3501 one"},
	} {
		h := makeHost(t)
		h.sh(t, makeRepo+`b=$(git rev-parse HEAD:f); w=$(printf %0200d 7); seq `+c.files+` | sed "s,.*,100644 $b	$w/$w/$w/&," | git update-index --index-info; echo x >new`)
		if s, _ := h.look(t, nil, "~/app"); s.git("~/app") != c.want {
			t.Errorf("%s files: %s", c.files, s.git("~/app"))
		}
	}
}
