package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// initGrace is how much longer than a look Init may take on a host: systemd
// reads its units anew, which is slow on a small machine.
const initGrace = 60 * time.Second

// maxInitFile bounds what is read of a file that may be anything.
const maxInitFile = 64 << 10

func initNonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return "fleet" + hex.EncodeToString(b[:])
}

// initFound is what a host has of what Init is about.
type initFound struct {
	workdir       string // as pwd gives it there; empty when it is missing
	file, unit    string // the texts of WorkdirFile and UnitFile
	hasFile       bool
	hasUnit       bool
	fileKind      string // "dir" where something else has the file's name
	systemd       bool   // a user manager answers
	enabled       bool
	linger        string // "yes", "no", or empty where it is not known
	systemdReason string // why there is no manager, in the machine's own words
}

// lookFile prints a file behind a word that says what has its name.
func lookFile(path string) string {
	return fmt.Sprintf(`f="$HOME/%s"
if [ -d "$f" ]; then echo dir
elif [ -e "$f" ]; then echo file; head -c %d -- "$f"
else echo none; fi
`, path, maxInitFile)
}

// lookSystemd asks the user's manager, where there is one, within a deadline of
// its own. That a unit is enabled is the exit code, as it is documented.
const lookSystemd = `command -v systemctl >/dev/null 2>&1 || { echo 'none there is no systemctl'; exit 0; }
limit=; if command -v timeout >/dev/null 2>&1; then limit='timeout 10'; fi
` + runtimeDir + `said=$($limit systemctl --user show -p LoadState ` + UnitName + ` 2>&1) || { printf 'none %s\n' "$(printf '%s' "$said" | tr '\n' ' ')"; exit 0; }
enabled=no; $limit systemctl --user is-enabled ` + UnitName + ` >/dev/null 2>&1 && enabled=yes
linger=$($limit loginctl show-user "$(id -un)" -p Linger 2>/dev/null)
case $linger in *=yes) linger=yes ;; *=no) linger=no ;;
  *) linger=unknown; if [ -e "/var/lib/systemd/linger/$(id -un)" ]; then linger=yes; fi ;; esac
echo "answers $enabled $linger"
`

// runtimeDir says where the user's manager listens, which not every sshd does.
const runtimeDir = `if [ -z "${XDG_RUNTIME_DIR:-}" ] && [ -d "/run/user/$(id -u)" ]; then XDG_RUNTIME_DIR=/run/user/$(id -u); export XDG_RUNTIME_DIR; fi
`

// lookInit reads what is there. It changes nothing.
func (f *Fleet) lookInit(ctx context.Context, h Host) (initFound, error) {
	sections := transport.NewSections()
	sections.Add("workdir", fmt.Sprintf("unset CDPATH; cd -- %s 2>/dev/null && [ -x . ] && pwd\n", tmux.DirWord(h.Workdir)))
	sections.Add("file", lookFile(WorkdirFile))
	sections.Add("unit", lookFile(UnitFile))
	sections.Add("systemd", lookSystemd)
	res, err := f.conn(h).Run(ctx, transport.Script{Text: sections.Script(), Repeatable: true})
	if err != nil {
		return initFound{}, err
	}
	parts, err := sections.Parse(res.Stdout)
	if err != nil {
		return initFound{}, err
	}
	return parseInit(parts), nil
}

func parseInit(parts map[string]transport.Section) initFound {
	var f initFound
	if s := parts["workdir"]; s.Ran && s.ExitCode == 0 {
		f.workdir = strings.TrimSuffix(string(s.Out), "\n")
	}
	kind, text, _ := strings.Cut(string(parts["file"].Out), "\n")
	f.hasFile, f.file, f.fileKind = kind == "file", text, kind
	kind, text, _ = strings.Cut(string(parts["unit"].Out), "\n")
	f.hasUnit, f.unit = kind == "file", text
	answer, rest, _ := strings.Cut(strings.TrimSpace(string(parts["systemd"].Out)), " ")
	switch answer {
	case "answers":
		f.systemd = true
		enabled, linger, _ := strings.Cut(rest, " ")
		f.enabled = enabled == "yes"
		if linger == "yes" || linger == "no" {
			f.linger = linger
		}
	default:
		f.systemdReason = rest
	}
	return f
}

// writeStep is sh that puts a text in the place of a file below the home: a file
// beside it first, so that nobody ever reads half of it. What stood there is kept
// under another name if keep says one.
func writeStep(path, text, keep string) string {
	word := `"$HOME"/` + transport.Quote(path)
	script := fmt.Sprintf("mkdir -p -- \"$(dirname -- %[1]s)\" || exit 1\nf=%[1]s; new=$f.new.$$\n", word)
	if keep != "" {
		script += fmt.Sprintf("cp -p -- \"$f\" \"$f\"%s || exit 1\n", transport.Quote(keep))
	}
	return script + fmt.Sprintf("(umask 022; printf %%s %s > \"$new\") && chmod 644 -- \"$new\" && mv -f -- \"$new\" \"$f\" || { rm -f -- \"$new\"; exit 1; }\n", transport.Quote(text))
}

// enableStep makes systemd read the unit and start it at the next login or boot.
// Its words stand on standard error and are told of where it fails.
const enableStep = runtimeDir + `limit=; if command -v timeout >/dev/null 2>&1; then limit='timeout 30'; fi
$limit systemctl --user daemon-reload && $limit systemctl --user enable ` + UnitName + ` >/dev/null
`

// initScript runs the steps in order, each in a subshell, until one fails.
func initScript(nonce string, steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "(eval %s\n) && echo '%s done' || exit 1\n", transport.Quote(s), nonce)
	}
	fmt.Fprintf(&b, "echo '%s end'\n", nonce)
	return b.String()
}
