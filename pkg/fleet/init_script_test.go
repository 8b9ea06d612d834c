package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestInitScripts runs what Init runs on a host by each program that serves as sh,
// with texts of which one of them might lose something.
func TestInitScripts(t *testing.T) {
	for _, sh := range []string{"dash", "bash"} {
		for _, text := range []string{"/srv/app\n", "/srv/it's $(touch pwned) `x` \\n %s\n", "-n\n", "fünf 日本\nzwei\n", ""} {
			home := t.TempDir()
			path := filepath.Join(home, "deep er", "file")
			run := func(script string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), sh, "-c", script)
				cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v: %s", sh, err, out)
				}
				return string(out)
			}
			if got := run(lookFile("deep er/file")); got != "none\n" {
				t.Errorf("%s: before: %q", sh, got)
			}
			out := run(initScript("n0nce", []string{writeStep("deep er/file", "first\n", ""), writeStep("deep er/file", text, ".kept")}))
			if out != "n0nce done\nn0nce done\nn0nce end\n" {
				t.Errorf("%s: %q", sh, out)
			}
			if got := run(lookFile("deep er/file")); got != "file\n"+text {
				t.Errorf("%s: wrote %q, want %q", sh, got, text)
			}
			if kept, err := os.ReadFile(path + ".kept"); err != nil || string(kept) != "first\n" {
				t.Errorf("%s: kept %q, %v", sh, kept, err)
			}
			if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
				t.Errorf("%s: %v, %v", sh, st, err)
			}
			if names, err := filepath.Glob(filepath.Join(home, "*", "*")); err != nil || len(names) != 2 {
				t.Errorf("%s: left %q, %v", sh, names, err)
			}
			// A step that fails is the last one.
			cmd := exec.CommandContext(t.Context(), sh, "-c", initScript("n0nce", []string{"true", "echo no >&2; false", "touch after"}))
			cmd.Dir = home
			if got, err := cmd.Output(); err == nil || string(got) != "n0nce done\n" {
				t.Errorf("%s: %q, %v", sh, got, err)
			}
			if _, err := os.Stat(filepath.Join(home, "after")); err == nil {
				t.Errorf("%s: it went on", sh)
			}
		}
	}
}

// TestUnitReady holds which units are taken to be a host's own.
func TestUnitReady(t *testing.T) {
	h := Host{Name: "alpha", Session: "claude", Command: "claude --x 'y'"}
	other, older := h, h
	other.Session, older.Command = "work", "claude"
	for _, sh := range []string{"dash", "bash"} {
		for name, tt := range map[string]struct{ unit, workdir, want string }{
			"its own":                       {Unit(h), "HOME/app\n", ""},
			"its own, by way of ~":          {Unit(h), "~/app\n", ""},
			"its own, by a link":            {Unit(h), "HOME/link\n", ""},
			"its own, of another directory": {Unit(h), "HOME\n", noteUnitWorkdir},
			"its own, of none":              {Unit(h), "", noteUnitWorkdir},
			"its own, of one that is gone":  {Unit(h), "HOME/gone\n", noteUnitWorkdir},
			"another session's":             {Unit(other), "HOME/app\n", noteUnitOther},
			"of another command":            {Unit(older), "HOME/app\n", noteUnitOther},
			"by hand":                       {"[Service]\n", "HOME/app\n", ""},
			"by hand, of another directory": {"[Service]\n", "HOME\n", noteUnitWorkdir},
			"by hand, of none":              {"[Service]\n", "", ""},
		} {
			home := t.TempDir()
			for _, dir := range []string{"app", filepath.Dir(UnitFile)} {
				if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("app", filepath.Join(home, "link")); err != nil {
				t.Fatal(err)
			}
			files := map[string]string{UnitFile: tt.unit}
			if tt.workdir != "" {
				files[WorkdirFile] = strings.Replace(tt.workdir, "HOME", home, 1)
			}
			for path, text := range files {
				if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			// As Start's script runs it.
			cmd := exec.CommandContext(t.Context(), sh, "-c", "cd app; ready="+transport.Quote(unitReady(h))+"; why=$(eval \"$ready\"); echo \"<$why>\"")
			cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "<"+tt.want+">\n" {
				t.Errorf("%s: %s: %q, %v, want %q", sh, name, out, err, tt.want)
			}
		}
	}
}
