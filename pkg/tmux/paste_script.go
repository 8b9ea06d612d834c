package tmux

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// inputScript defines "look", which reads what stands in the input line and, if
// nothing tells where that ends, below it: $row its first row, $flat all of it in printable ASCII alone, so
// that padding, wrapping and the drawing of wide characters make no difference.
// $scrolled tells that the line's beginning is out of sight. "shows" compares
// it with the text; "there" is whether what was seen then is still there, by
// its first row, since what is below the line changes by itself, and the row may
// have lost what nobody can see; "boxed" waits a
// little for an input line, which a redraw may hide for a moment; "elapse" tells
// the seconds since "begin", and bounds them by the naps that were taken, since a
// machine's clock may be set back; "offers" is
// whether a row of a menu has come since, above the input line or beneath it.
//
// A mark counts at the beginning of a row alone: the text may hold one.
const inputScript = `nl='
'
seen= screen= row= flat= scrolled=
look() {
  now=$nl$(tmux -u capture-pane -p -t "$pane")
  [ "$now" != "$seen" ] || return 0
  seen=$now scrolled=
  case $now in
MARKS
    *"$nl$more"*) screen=${now##*"$nl$more"}; scrolled=1 ;;
    *) screen= ;;
  esac
  row=${screen%%"$nl"*}
  if [ -n "$below" ]; then flat=$(flatten "${screen%%"$nl$below"*}"); else flat=$(flatten "$screen"); fi
}
flatten() { printf '%s' "$1" | LC_ALL=C tr -cd '!-~'; }
shows() {
  look
  [ "$screen" != "$before" ] || return 1
  if [ -n "$scrolled" ]; then ends "$last"; return; fi
  if [ -n "$placeholder" ]; then case $flat in COLLAPSED) return 0 ;; esac; fi
  [ -n "$tail" ] || [ "$row" != "$before_row" ] || return 1
  case $flat in "$head"*) ;; *) return 1 ;; esac
  [ -z "$head" ] || [ -z "$exact" ] || [ "$flat" = "$head" ] || return 1
  ends "$tail"
}
ends() {
  if [ -n "$exact" ]; then case $flat in *"$1") return 0 ;; esac; else case $flat in *"$1"*) return 0 ;; esac; fi
  return 1
}
there() {
  look
  [ -z "$scrolled" ] || return 0
  [ -n "$typed" ] || { shows; return; }
  [ "$row" != "$typed" ] || return 0
  [ -n "$typed_flat" ] && [ "$(flatten "$row")" = "$typed_flat" ]
}
nap() { naps=$((naps + 1)); sleep 0.1 2>/dev/null || sleep 1; }
boxed() {
  for i in 1 2 3 4 5 6 7 8 9 10; do look; [ -z "$screen" ] || return 0; nap; done
  return 1
}
begin() { since=$(date +%s) naps=0; }
elapse() {
  second=$(date +%s)
  [ "$second" -ge "$since" ] || since=$second
  elapsed=$((second - since))
  [ $naps -le $((wait * 20)) ] || elapsed=$((wait + 1))
}
offers() {
  beneath=
  if [ -n "$below" ]; then beneath=${screen#*"$nl$below"}; fi
  printf '%s\n%s\n' "${now%"$screen"}" "$beneath" | while IFS= read -r line; do
    case $line in
OFFERS
      *) continue ;;
    esac
    case $first$nl in *"$nl$line$nl"*) ;; *) echo offered; break ;; esac
  done | grep -q offered
}
naps=0
look; first=$now before=$screen before_row=$row
`

// pressScript defines "erase", which presses the key that takes text out: once,
// and then four times at once, and so on, since 2.1.85 of the client takes no notice
// of several at once where it shows a paste in short.
const pressScript = `presses=0
erase() {
  if [ $((presses % 5)) -eq 0 ]; then
    tmux -u send-keys -t "$pane" "$erase"
    presses=$((presses + 1))
  else
    tmux -u send-keys -t "$pane" "$erase" "$erase" "$erase" "$erase"
    presses=$((presses + 4))
  fi
}
`

// eraseScript defines "untyped", the end of a script whose text was typed and
// can't be submitted. It takes the text out as long as the input line shows
// nothing but that: its first row is part of the text, or stands for it. What
// was typed late shows late, so the line has to stay empty for a moment.
const eraseScript = pressScript + `ours() {
  [ -z "$scrolled" ] || return 0
  part=$(flatten "$row")
  if [ -n "$placeholder" ]; then case $part in "$placeholder"*) return 0 ;; esac; fi
  [ -n "$all" ] || return 1
  case $all in *"$part"*) return 0 ;; esac
  return 1
}
empty() { [ -z "$scrolled" ] && { [ "$row" = "$before_row" ] || case $row in *[!\ ]*) false ;; esac; }; }
untyped() {
  note ` + string(StageTyped) + `
  still=0
  while [ $presses -lt $most ]; do
    boxed || break
    if empty; then
      still=$((still + 1))
      [ $still -lt 8 ] || { note ` + string(StageErased) + `; echo "$nonce ${1:-erased}"; exit 0; }
      nap
      continue
    fi
    ours || break
    still=0
    erase
    nap
  done
  echo "$nonce typed"
  exit 0
}
`

// submitScript waits for the text, presses Enter, and waits for the text to
// go. A program may swallow an Enter that comes soon after a paste; it is
// pressed again, twice at most, and only while the input line still shows the
// text; not with Once. A screen without an input line may be one that is being drawn: it takes
// two of them. Where it can't be noted that Enter is about to be pressed, as when
// the disk has become full, it is not: the journal would tell that it never was.
const submitScript = `begin
until shows; do elapse; [ $elapsed -le "$wait" ] || untyped; nap; done
! offers || untyped menu
typed=$row typed_flat=$(flatten "$row")
note ` + string(StageEnter) + ` 2>/dev/null || untyped
tmux -u send-keys -t "$pane" Enter
again=2 blank=
begin
while :; do
  nap
  if there; then
    blank=
    elapse
    [ $elapsed -le "$wait" ] || { note ` + string(StageStuck) + `; echo "$nonce stuck"; exit 0; }
    if [ -z "$once" ] && [ $elapsed -ge $again ] && [ $again -le 5 ] && shows; then tmux -u send-keys -t "$pane" Enter; again=$((again + 3)); fi
  elif [ -n "$screen$blank" ]; then note ` + string(StageSubmitted) + `; echo "$nonce submitted"; exit 0
  else blank=1
  fi
done
`

// script is the whole of it. Once the lock is held, signals that would end the
// script are ignored: what is half typed is finished. The screen is compared
// before the journal is made, so that no journal is left of what was refused,
// and once more right before the first byte.
func (p Paste) script(nonce string) string {
	wait := p.Wait
	if wait <= 0 {
		wait = 10 * time.Second
	}
	chunks := p.pieces()
	shown, last := cmp.Or(p.Shown, strings.Join(chunks, "")), p.Shown
	if last == "" && len(chunks) > 0 {
		last = chunks[len(chunks)-1]
	}
	e := endsOf(shown, last)
	placeholder := printableASCII(p.Placeholder)
	if strings.HasPrefix(e.head, placeholder) {
		placeholder = "" // the text itself looks like one
	}
	var b strings.Builder
	b.WriteString(assign("nonce", nonce) + p.Guard.script())
	b.WriteString(lock(nonce))
	b.WriteString("tmux -u if-shell -F -t \"$pane\" '#{pane_in_mode}' \"send-keys -t '$pane' -X cancel\" 2>/dev/null\n")
	b.WriteString("typable || { echo \"$nonce changed\"; exit 0; }\n")
	b.WriteString("drop() { tmux -u delete-buffer -b \"$buffer\" 2>/dev/null; }\n")
	b.WriteString(p.Journal.script(nonce))
	exact := ""
	if p.Below != "" && !p.Loose {
		exact = "1"
	}
	once := ""
	if p.Once {
		once = "1"
	}
	b.WriteString(assign("once", once) + marks(p.Marks) + assign("more", cmp.Or(p.More, nonce)) + assign("below", p.Below) + assign("exact", exact) + assign("placeholder", placeholder))
	b.WriteString(assign("all", e.all) + assign("head", e.head) + assign("tail", e.tail) + assign("last", e.last))
	// A placeholder for each chunk, or the last chunk as it is behind one.
	collapsed := strings.Repeat(`"$placeholder"*`, max(1, len(chunks)))
	if len(chunks) > 1 {
		collapsed += `|"$placeholder"*"$last"*`
	}
	// Or one for all of them, if it says as many lines (2.1.85 of the client).
	if n := strings.Count(shown, "\n"); n > 0 {
		collapsed += fmt.Sprintf(`|"$placeholder"*"+%dlines]"`, n)
	}
	b.WriteString(input(p.Marks, p.Menus, collapsed))
	// A key erases a row of the screen, or the line feed between two.
	most := 0
	if p.Erase != "" {
		most = 60 + 2*strings.Count(shown, "\n") + min(len(shown), maxAll)/20
	}
	fmt.Fprintf(&b, "wait=%d most=%d erase=%s\n", (wait+time.Second-1)/time.Second, most, transport.Quote(p.Erase))
	b.WriteString(eraseScript)
	for i, c := range chunks {
		b.WriteString(assign("chunk", c))
		put(&b, i == 0)
	}
	b.WriteString(submitScript)
	return b.String()
}

// marks sets the variables mark0, mark1, ….
func marks(all []string) string {
	var b strings.Builder
	for i, mark := range all {
		b.WriteString(assign(fmt.Sprintf("mark%d", i), mark))
	}
	return b.String()
}

// input is inputScript for so many marks, for the beginnings of menu rows, and for
// the pattern by which a text is known that the program shows in short.
func input(marks, menus []string, collapsed string) string {
	cases := ""
	for i := range marks {
		cases += fmt.Sprintf("    *\"$nl$mark%[1]d\"*) screen=${now##*\"$nl$mark%[1]d\"} ;;\n", i)
	}
	offers := ""
	for _, menu := range menus {
		offers += "      " + transport.Quote(menu) + "*) ;;\n"
	}
	return strings.NewReplacer("MARKS\n", cases, "OFFERS\n", offers, "COLLAPSED", cmp.Or(collapsed, "''")).Replace(inputScript)
}

// put is the sh text that types one chunk. The buffer is filled first: nothing
// but the paste itself stands between the last look and the first byte.
func put(b *strings.Builder, first bool) {
	const load = `printf '%s' "$chunk" | tmux -u load-buffer -b "$buffer" -`
	const paste = `tmux -u paste-buffer -p -r -d -b "$buffer" -t "$pane"`
	if first {
		fmt.Fprintf(b, "%s || { echo \"$nonce failed\"; exit 0; }\nclaim\n", load)
		b.WriteString("typable || { unclaim; drop; echo \"$nonce changed\"; exit 0; }\n")
		fmt.Fprintf(b, "%s || { unclaim; drop; echo \"$nonce failed\"; exit 0; }\n", paste)
		return
	}
	fmt.Fprintf(b, "boxed && %s \\; %s || { drop; untyped; }\n", load, strings.TrimPrefix(paste, "tmux -u "))
}
