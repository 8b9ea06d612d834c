package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// envPlace defines place, which prints what stands in the place of EnvFile: none,
// other (a file without a token), token, or bad and why nothing can be put there.
// A link is not followed, and what is another account's not touched.
var envPlace = fmt.Sprintf(`d=$HOME/%[1]s; f=$HOME/%[2]s
place() {
  if [ -L "$d" ]; then echo 'bad ~/%[1]s is a link'
  elif [ -e "$d" ] && [ ! -d "$d" ]; then echo 'bad ~/%[1]s is no directory'
  elif [ -d "$d" ] && [ ! -O "$d" ]; then echo 'bad ~/%[1]s belongs to another account'
  elif [ -L "$f" ]; then echo 'bad ~/%[2]s is a link'
  elif [ ! -e "$f" ]; then echo none
  elif [ ! -f "$f" ]; then echo 'bad ~/%[2]s is no regular file'
  elif [ ! -O "$f" ]; then echo 'bad ~/%[2]s belongs to another account'
  elif LC_ALL=C grep -q '^%[3]s=' "$f" 2>/dev/null; then echo token
  else echo other; fi
}
`, path.Dir(EnvFile), EnvFile, tokenVar)

// replaceEnv begins a change of EnvFile: nobody else can read what is made, and
// rest prints the lines of the file that are not ours.
const replaceEnv = `umask 077
case $(place) in bad*) place; exit 0 ;; esac
new=$f.new.$$
rest() { [ ! -f "$f" ] || LC_ALL=C sed '/^` + tokenVar + `=/d' "$f"; }
put() { chmod 600 "$new" && mv -f -- "$new" "$f"; }
fail() { rm -f -- "$new"; exit 1; }
`

// writeEnv is the script that puts a token into EnvFile, or finds it there; with
// renew such a file counts as new from then on. It prints written, same, or bad
// and why. The token is put by echo, which every sh does itself: it is of letters,
// digits, "_" and "-", and so needs no quotes. Our line goes first, since the last
// of the others may have no end.
func writeEnv(t Token, renew bool) string {
	touch := ""
	if renew {
		touch = `touch "$f" || exit 1; `
	}
	return envPlace + replaceEnv + fmt.Sprintf(`have=%[1]s=%[2]s
count=0; same=no; mode=
if [ -f "$f" ]; then
  mode=$(LC_ALL=C ls -ldn "$d" | cut -c 1-10)$(LC_ALL=C ls -ldn "$f" | cut -c 1-10)
  chmod 600 "$f" || exit 1
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in "$have") same=yes; count=$((count + 1)) ;; %[1]s=*) count=$((count + 1)) ;; esac
  done < "$f"
fi
if [ "$same $count $mode" = 'yes 1 drwx-------rw-------' ]; then %[3]secho same; exit 0; fi
mkdir -p "$d" && chmod 700 "$d" || exit 1
{ echo "$have"; rest; } > "$new" && put || fail
echo written
`, tokenVar, t.reveal(), touch)
}

// removeEnv is the script that takes the token out of EnvFile, and with it what
// was made for it alone. It prints none, removed, or bad and why.
var removeEnv = envPlace + replaceEnv + `[ "$(place)" = token ] || { echo none; exit 0; }
rest > "$new" || fail
if [ -s "$new" ]; then put || fail; else rm -f -- "$new" "$f" || fail; fi
rmdir "$d" 2>/dev/null
echo removed
`

// The environments in which the client is asked for its login.
const (
	askBare = "unset " + tokenVar + "\n" // without the token
	askWith = tokenVar + "=$FLEET_TOKEN; export " + tokenVar + "\n"
)

// launchEnv is as a launch has it, and with nothing that came otherwise.
var launchEnv = askBare + tmux.ReadEnvFile(EnvFile)

// askClient is a fragment that runs a command of a host's client, in a login shell
// as it has when it is launched, but for the terminal; environment is sh that is
// run before. The answer stands between two lines of the nonce.
func askClient(h Host, nonce, environment, arguments string) string {
	run := "PATH=$PATH:$FLEET_PATH; export PATH\n" + environment + "unset FLEET_RUN FLEET_PATH FLEET_TOKEN " + strings.Join(inherited, " ") + "\n" +
		saying + fmt.Sprintf("printf '\\n%s\\n'; limit %d %s %s </dev/null 2>/dev/null; printf '\\n%s %%d\\n' $?\n", nonce, askLimit, tmux.DirWord(programOf(h.Command)), arguments, nonce)
	return "FLEET_PATH=$PATH; FLEET_RUN=" + transport.Quote(run) + `; export FLEET_PATH FLEET_RUN
shell=${SHELL:-/bin/sh}
case ${shell##*/} in
  csh|tcsh) exec "$shell" -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
  *) exec "$shell" -l -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
esac
`
}

// tryArguments have the client do one short turn: no tools, no hooks, no servers of
// tools, and no conversation that is kept.
const tryArguments = `-p 'Reply with OK.' --output-format json --no-session-persistence --tools '' --strict-mcp-config --settings '{"disableAllHooks":true}'`

// clientAnswer is what a client printed as JSON, and its exit code; exitNotFound
// where there is none.
func clientAnswer(out []byte, nonce string, into any) (code int, err error) {
	_, rest, ok := bytes.Cut(out, []byte("\n"+nonce+"\n"))
	body, end, ended := bytes.Cut(rest, []byte("\n"+nonce+" "))
	if !ok || !ended {
		return 0, fmt.Errorf("its login shell gave no answer")
	}
	if _, err := fmt.Sscan(string(end), &code); err != nil {
		return 0, fmt.Errorf("its login shell gave no answer")
	}
	from := bytes.IndexByte(body, '{')
	if from < 0 {
		return code, fmt.Errorf("the client gave no answer (exit code %d)", code)
	}
	if err := json.NewDecoder(bytes.NewReader(body[from:])).Decode(into); err != nil {
		return code, fmt.Errorf("the client's answer is no JSON (exit code %d)", code)
	}
	return code, nil
}

// authStatus is what `claude auth status --json` says (2.1.332). It goes by what
// there is and asks nobody: any token is an oauth_token, and a full login is
// claude.ai, run out or not. An API key goes before either.
type authStatus struct {
	LoggedIn  bool   `json:"loggedIn"`
	Method    string `json:"authMethod"`
	KeySource string `json:"apiKeySource"`
}

// tried is what the one prompt came to.
type tried struct {
	IsError   bool   `json:"is_error"`
	APIStatus int    `json:"api_error_status"`
	Result    string `json:"result"`
}

// refused tells whether the service would not have the token. A usage limit is
// told to those alone whom it knows.
func (t tried) refused() bool { return t.IsError && (t.APIStatus == 401 || t.APIStatus == 403) }

func (t tried) works() bool { return !t.IsError || t.APIStatus == 429 }
