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

// replaceEnv begins a change of EnvFile: nobody else can read what is made, which
// does not stay behind, nor does what a change that was killed left; and rest prints the lines of the file that are not ours.
const replaceEnv = `umask 077
case $(place) in bad*) place; exit 0 ;; esac
new=$f.new.$$
rm -f -- "$f".new.*
trap 'rm -f -- "$new"' EXIT
trap 'exit 1' HUP INT TERM
rest() { [ ! -f "$f" ] || LC_ALL=C sed '/^` + tokenVar + `=/d' "$f"; }
put() { chmod 600 "$new" && mv -f -- "$new" "$f"; }
fail() { exit 1; }
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
{ echo "$have" && rest; } > "$new" && put || fail
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

// askWith takes the token up in the shell that calls the client, from the place where
// giveToken has it: what a login profile starts does not get it. csh closes that.
const askWith = `if { IFS= read -r ` + tokenVar + ` <&9; } 2>/dev/null; then exec 9<&-; export ` + tokenVar + `
else answer 1 '{"is_error": true, "result": "its login shell passes nothing on to what it calls"}'
fi
`

// launchEnv is as a launch has it.
var launchEnv = tmux.ReadEnvFile(EnvFile)

// clientCall is how a host's command calls the client, without its arguments: the
// variables that it sets, as sh text, and the program. It is false for a command that
// is anything else, as a wrapper around the client is: with other arguments that
// could do anything.
func clientCall(command string) (set, program string, ok bool) {
	if strings.ContainsAny(command, ";|&<>`$()\n") {
		return "", "", false
	}
	for word := range strings.FieldsSeq(command) {
		name, _, assigns := strings.Cut(word, "=")
		switch {
		case assigns && isVariable(name):
			set += word + "; export " + name + "\n"
		default:
			return set, word, path.Base(word) == clientName
		}
	}
	return "", "", false
}

// isVariable tells whether sh takes a name for a variable's.
func isVariable(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	return strings.Trim(name, letters+"0123456789") == "" && strings.IndexAny(name, letters) == 0
}

// askClient is a fragment that runs a command of a host's client, in a login shell,
// which a terminal and its being interactive alone tell from that of a launch. No
// token of ours comes with the caller's environment; environment is sh that gives
// one. The answer stands between two lines of the nonce.
func askClient(h Host, nonce string, token Token, environment, arguments string) string {
	set, program, _ := clientCall(h.Command)
	run := "PATH=$PATH:$FLEET_PATH; export PATH\n" + fmt.Sprintf("answer() { printf '\\n%[1]s\\n%%s\\n%[1]s %%d\\n' \"$2\" \"$1\"; exit; }\n", nonce) +
		environment + set + "unset FLEET_RUN FLEET_PATH " + strings.Join(inherited, " ") + "\n" +
		saying + fmt.Sprintf("printf '\\n%s\\n'; limit %d %s %s </dev/null 2>/dev/null; printf '\\n%s %%d\\n' $?\n", nonce, askLimit, program, arguments, nonce)
	// The token is on the shell's standard input, which a login shell would read.
	give, open := "", ""
	if !token.IsZero() {
		give, open = "echo "+token.reveal()+" | ", "exec 9<&0 </dev/null; "
	}
	return "unset " + tokenVar + "; FLEET_PATH=$PATH; FLEET_RUN=" + transport.Quote(run) + `; export FLEET_PATH FLEET_RUN
shell=${SHELL:-/bin/sh}
` + give + `{ ` + open + `case ${shell##*/} in
  csh|tcsh) exec "$shell" -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
  *) exec "$shell" -l -c 'exec /bin/sh -c eval\ \"\$FLEET_RUN\"' ;;
esac; }
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
