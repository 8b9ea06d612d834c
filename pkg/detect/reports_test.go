package detect

import (
	"strings"
	"testing"
	"time"
)

// TestReports replays the faults that users of such tools reported, each with
// the screen that must be told from it.
func TestReports(t *testing.T) {
	turn := prompt("do it") + "\n\n" + answer("Done: it") + "\n\n" + finished("Cooked for 9s") + "\n"
	spin := func(t string) string { return prompt("do it") + "\n\n" + orange + t + plain + "\n" }
	tasks := grey + "  ⎿  ☐ first task\n     ☐ second task" + plain + "\n"
	status := strings.Repeat("  "+grey+"main  ctx 42%"+plain+"\n", 4)
	survey := grey + "● How is Claude doing this session? (optional)" + plain + "\n  " + accent + "1" + plain + ": Bad    " + accent + "2" + plain + ": Fine   " + accent + "3" + plain + ": Good   " + accent + "0" + plain + ": Dismiss\n"
	menu := func(title string, rows ...string) string {
		return accent + strings.Repeat("─", 100) + "\n  " + title + plain + "\n\n" + strings.Join(rows, "\n") + "\n"
	}
	cursor := func(e Evidence, x, y int) Evidence { e.CursorX, e.CursorY = x, y; return e }
	titled := func(e Evidence, title string) Evidence { e.Title = title; return e }
	alternate := func(e Evidence) Evidence { e.Alternate = true; return e }
	scrolled := func(rows string) string {
		return esc + "38;5;244m─── " + esc + "2m↑ 41 more" + esc + "0m " + strings.Repeat("─", 80) + "\n" + rows + esc + "7m " + esc + "0m\n" + boxRule()
	}
	at := func(e Evidence, now time.Time) Evidence { e.Now = now; return e }
	cases := []struct {
		name  string
		e     Evidence
		want  State
		draft string
		note  string // must stand in Why
	}{
		{"busy without esc to interrupt", drawn(spin("✳ Simplifying recompute_tangents… (2m 18s · ↓ 4.8k tokens)"), tasks, working(), modeLine), Busy, "", ""},
		{"the same turn, finished", drawn(turn, idle(""), modeLine), Ready, "", ""},
		{"busy under a permanent mode row", drawn(spin("✻ Forging… (4s · ↓ 12 tokens)"), working(), modeLine), Busy, "", ""},
		{"the mode row alone", drawn(idle(""), modeLine), Ready, "", ""},
		{"welcome screen", drawn("Claude Code v2.1.59\n", idle(""), modeLine), Ready, "", ""},
		{"welcome screen, box not drawn yet", drawn("Claude Code v2.1.59\n"), Unknown, "", ""},
		{"elapsed in two parts", drawn(spin("● Perusing… (1m 38s · ↓ 187 tokens)"), idle(""), modeLine), Busy, "", ""},
		{"elapsed 59 s", drawn(spin("✻ Perusing… (59s · ↓ 187 tokens)"), idle(""), modeLine), Busy, "", ""},
		{"elapsed 60 s", drawn(spin("✻ Perusing… (1m 0s · ↓ 187 tokens)"), idle(""), modeLine), Busy, "", ""},
		{"bullet spinner", drawn(spin("● Thundering… (2m 53s · ↓ 10.8k tokens)"), idle(""), modeLine), Busy, "", ""},
		{"bullet in an answer", drawn(prompt("cook"), "", answer("Cooked an amazing dish today…"), "", idle(""), modeLine), Ready, "", ""},
		{"a verb in no list", drawn(spin("✽ Zigzagging… (3s)"), idle(""), modeLine), Busy, "", ""},
		{"a verb beyond ASCII", drawn(spin("✽ Sautéing… (3s)"), idle(""), modeLine), Busy, "", ""},
		{"a bare verb", drawn(spin("✽ Sautéing…"), idle(""), modeLine), Busy, "", ""},
		{"a remark in place of the time", drawn(prompt("x"), orange+"✽ Musing… "+grey+"(thinking)"+plain, "", idle(""), modeLine), Busy, "", ""},
		{"a remark in an answer", drawn(prompt("x"), answer("Musing… (thinking)"), "", idle(""), modeLine), Ready, "", ""},
		{"a phrase that is wrapped", drawn(prompt("x"), orange+"✻ Refactoring the", "  module… "+grey+"(7s · ↓ 42 tokens)"+plain, "", idle(""), modeLine), Busy, "", ""},
		{"a verb in the past", drawn(prompt("x"), answer("y"), finished("Sautéed for 3s"), idle(""), modeLine), Ready, "", ""},
		{"four status rows, spinner far above", drawn(spin("✻ Forging… (4s)"), tasks+tasks+tasks, working(), status+"  -- INSERT -- "+modeLine), Busy, "", ""},
		{"four status rows, none", drawn(turn, idle(""), status+"  -- INSERT -- "+modeLine), Ready, "", ""},
		{"a status row that speaks of esc", drawn(turn, idle(""), "  "+grey+"esc to interrupt is not here"+plain, modeLine), Ready, "", ""},
		{"resume picker", drawn(menu("Resume", "  "+accent+"❯ 1. Resume from summary (recommended)"+plain, "    2. Resume full session"), "  Enter to confirm · Esc to cancel"), Gate, "", ""},
		{"the picker quoted", drawn(answer("1. Resume from summary (recommended)\n  ❯ 2. Resume full session\n  Enter to confirm · Esc to cancel"), "", idle(""), modeLine), Ready, "", ""},
		{"limit menu", drawn(menu("What do you want to do?", "  "+accent+"❯ 1. Stop and wait for limit to reset"+plain, "    2. Adjust monthly spend limit: $50"), "  Enter to confirm · Esc to cancel"), Limited, "", ""},
		{"another menu", drawn(menu("What do you want to do?", "  "+accent+"❯ 1. Stop"+plain, "    2. Go on"), "  Enter to confirm · Esc to cancel"), Gate, "", ""},
		{"retry of a 529", drawn(prompt("x"), "  ⎿  API Error (529 overloaded)", "     Retrying in 4 seconds… (attempt 4/10)", "", orange+"✻ Forging… (esc to interrupt)"+plain, working(), modeLine), Busy, "", ""},
		{"a terminal 529", drawn(prompt("x"), red+"⏺ API Error: 529 Overloaded. Try again."+plain, "", finished("Brewed for 1h 14m 17s"), idle(""), modeLine), Ready, "", "529"},
		{"an idle box in any session", titled(drawn(idle(""), modeLine), "✳ mine"), Ready, "", ""},
		{"a draft taller than the box", drawn(turn, scrolled("  line 41\n  line 42\n"), modeLine), Unknown, "", "taller than the input box"},
		{"and a turn runs", drawn(spin("✽ Zigzagging… (3s)"), scrolled("  line 41\n  line 42\n"), modeLine), Busy, "", ""},
		{"and its rows are a menu's", drawn(turn, scrolled("  ❯ 1. Yes\n    2. No\n"), modeLine), Unknown, "", "taller than the input box"},
		{"a menu beneath it", drawn(turn, scrolled("  line 41\n"), "  ❯ 1. Yes\n    2. No\n\n  Enter to confirm · Esc to cancel"), Gate, "", ""},
		{"a shell beneath it", drawn(turn, scrolled("  line 41\n"), "user@host:~$ "), Crashed, "", ""},
		{"such a rule in an answer", drawn(turn, scrolled("  line 41\n"), "", idle(""), modeLine), Ready, "", ""},
		{"a percentage while starting", drawn("loading 50%"), Unknown, "", ""},
		{"markup while starting", drawn("</div>"), Unknown, "", ""},
		{"a shell prompt behind a blank, under a stale box", drawn(turn, idle(""), modeLine, "", " user@vm  ~/proj "), Unknown, "", ""},
		{"a shell's mark with a command", drawn("Resume this session with:", "claude --resume x", "", "❯ git status"), Unknown, "", ""},
		{"a shell's prompt of two rows in the scrollback", drawn("╭─user@vm ~/proj", "╰─$ claude", "", turn, idle(""), modeLine), Ready, "", ""},
		{"a frame that was cut", drawn("╭────────", "│ Welcome", "", turn, idle(""), modeLine), Unknown, "", "torn"},
		{"a dialog drawn half over a box", drawn(turn, idle(""), " Do you want to proceed?", " "+accent+"❯ 1. Yes"+plain, "   2. No", "", " Esc to cancel"), Gate, "", ""},
		{"a shell prompt", drawn("bash-5.2#"), Crashed, "", ""},
		{"a shell prompt behind the terminal's reply", drawn(turn, idle(""), modeLine, "^[[?1;2cbash-5.2#"), Crashed, "", ""},
		{"other output below the box", drawn(turn, idle(""), modeLine, "^[[?1;2cdone"), Unknown, "", ""},
		{"a code to paste", drawn(" Browser didn't open? Use the url below to sign in:", "https://example.org/x", "", " Paste code here if prompted >"), Gate, "", ""},
		{"that row quoted", drawn(turn, answer("Paste code here if prompted >"), "", idle(""), modeLine), Ready, "", ""},
		{"a user's shell prompt", drawn("u@host:~/src$"), Crashed, "", ""},
		{"an empty capture", drawn(""), Unknown, "", "not a state"},
		{"a typed draft", drawn(turn, idle("half typed"), modeLine), Ready, "half typed", ""},
		{"the glyph with a plain space", drawn(turn, strings.ReplaceAll(idle(""), "\u00a0", " "), modeLine), Unknown, "", "live box"},
		{"theme screen with dashed rules", drawn(" Choose the text style\n", " ❯ 1. Dark mode ✔", "   2. Light mode", strings.Repeat("╌", 80), " 1  function greet() {", strings.Repeat("╌", 80), "  Enter to select"), Gate, "", ""},
		{"a survey takes the next digit", drawn(turn, survey, idle(""), modeLine), Gate, "", ""},
		{"the survey, wrapped", drawn(turn, grey+"● How is Claude doing this session? (optional)"+plain, "  "+accent+"1"+plain+": Bad    "+accent+"2"+plain+": Fine   "+accent+"3"+plain+": Good", "  "+accent+"0"+plain+": Dismiss", "", idle(""), modeLine), Gate, "", ""},
		{"the survey in history", drawn(survey, "", turn, "", idle(""), modeLine), Ready, "", ""},
		{"focus lost: no cursor cell", drawn(turn, strings.ReplaceAll(idle(""), esc+"7m ", ""), modeLine), Ready, "", ""},
		{"focus lost in a running turn", drawn(turn, strings.ReplaceAll(working(), esc+"7m"+plain+" ", ""), modeLine), Busy, "", ""},
		{"an epoch in the banner", at(drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Claude AI usage limit reached|1760000400"+plain, "", idle(""), modeLine), time.Unix(1760000000, 0)), Limited, "", ""},
		{"that epoch gone by", at(drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Claude AI usage limit reached|1760000400"+plain, "", idle(""), modeLine), time.Unix(1760000500, 0)), Ready, "", ""},
		{"an hour gone by", at(drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"You've hit your limit · resets 10am (Asia/Seoul)"+plain, "", idle(""), modeLine), date(2026, time.March, 3, 4, 32)), Limited, "", "can't be told"},
		{"the banner in an answer", drawn(prompt("x"), answer("You've hit your limit · resets 10am (Asia/Seoul)"), "", idle(""), modeLine), Ready, "", ""},
		{"queued messages", drawn(turn, hinted("Press up to edit queued messages"), modeLine), Busy, "", ""},
		{"queued above the box, nothing else tells", drawn(answer("Holding."), "", prompt("one more"), "  "+grey+"ctrl+x ctrl+s to send now"+plain, "", idle("and a draft"), modeLine), Busy, "and a draft", ""},
		{"those words in an answer", drawn(prompt("x"), answer("ctrl+x ctrl+s to send now"), "", idle(""), modeLine), Ready, "", ""},
		{"a history search that finds nothing, wrapped", drawn(turn, idle(""), "  "+grey+"no matching    put a…  "+red+"⏵⏵ bypass permissions on"+plain, "  "+grey+"prompt:"+plain), Gate, "", ""},
		{"a shell's prompt printed into the box", drawn(turn, idle("bash-5.2#"), "  Press Ctrl-C again to exit"), Crashed, "", ""},
		{"a draft that only looks like one", drawn(turn, idle("C#"), modeLine), Ready, "C#", ""},
		{"queued messages, undimmed", drawn(turn, idle("Press up to edit queued messages"), modeLine), Busy, "", ""},
		{"a hint after an error, undimmed", drawn(turn, idle("Resend your message to try again"), modeLine), Ready, "", ""},
		{"another hint", drawn(turn, hinted(`Try "how do I log an error?"`), modeLine), Ready, "", ""},
		{"wide and joined characters above", drawn(prompt("x"), answer("⚠️ 테스트 👩‍💻 … Do you want to proceed?"), "", idle(""), modeLine), Ready, "", ""},
		{"wide and joined characters in a draft", drawn(turn, idle("테스트 👩‍💻"), modeLine), Ready, "테스트 👩‍💻", ""},
		{"title says busy, box idle", titled(drawn(turn, idle(""), modeLine), "⠐ Claude Code"), Busy, "", ""},
		{"title leaked from a probe", titled(drawn(turn, idle(""), modeLine), "Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA"), Ready, "", ""},
		{"mode row cut", drawn(turn, idle(""), "  "+red+"⏵⏵ bypass permissions on"+grey+" (shift+tab to cycle) · esc to …"+plain), Busy, "", ""},
		{"waiting on background agents", drawn(prompt("x"), orange+"✻ Waiting for 2 background agents to finish"+plain, "", idle(""), modeLine), Busy, "", ""},
		{"background agents beside an idle box", drawn(turn, idle(""), "  "+red+"⏵⏵ bypass permissions on"+grey+" · "+accent+"1 local agent"+grey+" · ctrl+x ctrl+k to stop agents"+plain), Busy, "", ""},
		{"a background shell beside one", drawn(turn, idle(""), "  "+red+"⏵⏵ bypass permissions on"+grey+" · "+accent+"1 shell"+grey+" · ↓ to manage"+plain), Ready, "", ""},
		{"a status row that counts agents", drawn(turn, idle(""), "  "+grey+"main · 1 local agent"+plain, modeLine), Ready, "", ""},
		{"compacting", drawn(prompt("/compact"), orange+"✻ Compacting conversation… (12s · ↑ 1.2k tokens)"+plain, "", idle(""), modeLine), Busy, "", ""},
		{"torn: a past prompt whose box is not drawn yet", drawn(answer("Done"), "", finished("Baked for 0s"), "", prompt("HOLD x")), Unknown, "", ""},
		{"the same row as a menu's", drawn(answer("Done"), "", accent+"❯ Yes"+plain, "  No"), Gate, "", ""},
		{"torn: the strip beneath a box that is too narrow", drawn(prompt("x"), strings.Repeat("─", 30), "❯\u00a0"+esc+"7m "+esc+"0m", strings.Repeat("─", 30), "  ⚠ Usage limit reached · limit resets 1:53am", "    Continuing automatically at 1:53am · Esc to cancel", modeLine), Unknown, "", ""},
		{"a menu beneath a stale box", drawn(turn, idle(""), "  Do you want to proceed?", "  ❯ 1. Yes", "    2. No", "  Enter to confirm · Esc to cancel"), Gate, "", ""},
		{"a status row like a menu's", drawn(turn, idle(""), "  ❯ main ✔", modeLine), Ready, "", ""},
		{"a prompt that nothing came of yet", drawn(turn, prompt("go on"), "", idle(""), modeLine), Unknown, "", "unanswered"},
		{"a prompt interrupted before anything came", titled(drawn(turn, prompt("go on"), "", idle(""), modeLine), "✳ Claude Code"), Ready, "", ""},
		{"that on the alternate screen, whose title may lag", alternate(titled(drawn(turn, prompt("go on"), "", idle(""), modeLine), "✳ Claude Code")), Unknown, "", "unanswered"},
		{"a new conversation", alternate(drawn(prompt("/clear"), "", idle(""), modeLine)), Ready, "", ""},
		{"a command that has yet to answer", alternate(drawn(prompt("/compact"), "", idle(""), modeLine)), Unknown, "", "unanswered"},
		{"a tool that still reads as running", titled(drawn(turn, prompt("go on"), "", answer("Bash(sleep 9)"), grey+"  ⎿ \u00a0Running…"+plain, "", idle(""), modeLine), "✳ Claude Code"), Unknown, "", "unanswered"},
		{"a tool that was interrupted", drawn(turn, prompt("go on"), "", answer("Bash(sleep 9)"), grey+"  ⎿ \u00a0Interrupted · What should Claude do instead?"+plain, "", idle(""), modeLine), Ready, "", ""},
		{"a finished turn that shows nothing", titled(drawn(turn, prompt("go on"), "", finished("Churned for 0s"), idle(""), modeLine), "✳ Claude Code"), Unknown, "", "unanswered"},
		{"the offer under a banner that is cut off", titled(drawn("     "+grey+"/upgrade to increase your usage limit."+plain, "", idle(""), modeLine), "✳ x"), Limited, "", ""},
		{"an answer that starts like the client's note", drawn(prompt("x"), answer("Usage limit reached · set to continue automatically at 6pm"), "", idle(""), modeLine), Ready, "", ""},
		{"the client's note alone", drawn(grey+"● Usage limit reached · set to continue automatically at 6pm"+plain, "", idle(""), modeLine), Limited, "", ""},
		{"a command that was refused", drawn(turn, prompt("Unknown slash command: effort"), "", idle(""), modeLine), Ready, "", ""},
		{"cursor behind the glyph", cursor(drawn("", idle(""), modeLine), 2, 2), Ready, "", ""},
		{"cursor further on: typed, not drawn yet", cursor(drawn("", idle(""), modeLine), 6, 2), Unknown, "", "cursor"},
		{"cursor in the footer", cursor(drawn("", idle(""), modeLine), 18, 4), Unknown, "", "cursor"},
		{"cursor parked below, as old versions do", cursor(drawn("", idle(""), modeLine), 0, 39), Ready, "", ""},
		{"retry cut by a narrow pane", drawn(prompt("x"), red+"✻ Unable to connect to API (ECONNRESET)"+grey+" · Retrying in 2s · at…"+plain, "", idle(""), modeLine), Busy, "", ""},
		{"an answer that speaks of retrying", drawn(prompt("x"), answer("It says: Retrying in 5 seconds, attempt 2"), "", idle(""), modeLine), Ready, "", ""},
		{"nobody logged in, cut", drawn(idle(""), modeLine+"   "+red+"Not logged in · Ru…"+plain), Unauth, "", ""},
		{"a status row about logins", drawn(idle(""), "  "+grey+"branch: fix-Not logged in · bug"+plain, modeLine), Ready, "", ""},
		{"nobody logged in, wrapped in its column", drawn(idle(""), modeLine+"     "+red+"Not logged in ·"+plain, "                                                  "+red+"Run /login"+plain), Unauth, "", ""},
		{"history search, wrapped in its column", drawn(idle(""), "  "+grey+"search     "+plain+"     "+red+"⏵⏵ bypass permissions on"+plain, "  "+grey+"prompts:"+plain), Gate, "", ""},
		{"those words in other columns", drawn(idle(""), "  "+grey+"search     "+plain+"     "+red+"⏵⏵ bypass permissions on"+plain, "             "+grey+"prompts:"+plain), Ready, "", ""},
		{"a list in column 0", drawn(turn, idle("/ex"), accent+"/exit        Exit the CLI"+plain, grey+"/export      Export"+plain), Ready, "/ex", ""},
		{"left with a list open", drawn(turn, idle("/exit"), accent+"/exit        Exit the CLI"+plain, "", "Resume this session with:", "claude --resume x", "bash-5.2#"), Crashed, "", ""},
		{"killed with a list open", drawn(turn, idle("/exit"), accent+"/exit        Exit the CLI"+plain, "bash-5.2#"), Crashed, "", ""},
		{"failed to authenticate", drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Failed to authenticate. API Error: 401 token expired"+plain, "", idle(""), modeLine), Unauth, "", ""},
		{"no credit", drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Credit balance is too low"+plain, "", idle(""), modeLine), Limited, "", "can't be told"},
		{"a status row about another login", drawn(turn, idle(""), "  "+grey+"git  Not logged in · gh"+plain, modeLine), Ready, "", ""},
		{"a status row about a limit", drawn(turn, idle(""), "  "+grey+"⚠ 5h limit reached 12%"+plain, modeLine), Ready, "", ""},
		{"login expired", drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Login expired · Please run /login"+plain, "", idle(""), modeLine), Unauth, "", ""},
		{"logged in again since", drawn(prompt("x"), grey+"  ⎿ \u00a0"+red+"Login expired · Please run /login"+plain, "", prompt("/login"), "  ⎿ \u00a0Login successful", "", idle(""), modeLine), Ready, "", ""},
		{"a tool printed the words", drawn(answer("Bash(cat log)"), "  ⎿ \u00a0Login expired · Please run /login", "", idle(""), modeLine), Ready, "", ""},
	}
	reads := map[string]string{}
	for _, c := range cases {
		reads[c.name] = string(c.want) + c.draft
	}
	checkReported(t, reads)
	for _, c := range cases {
		v := Classify(c.e)
		if v.State != c.want || v.Draft != c.draft || !strings.Contains(v.Why, c.note) {
			t.Errorf("%s: %s by %s, draft %q (%s); want %s, draft %q, why with %q", c.name, v.State, v.Rule, v.Draft, v.Why, c.want, c.draft, c.note)
		}
		if v.Typable() != (c.want == Ready && c.draft == "") {
			t.Errorf("%s: typable is %v", c.name, v.Typable())
		}
	}
}

// reported names the public threads in which users told of these faults (some
// of the repositories have moved since), each with the case that replays it
// and, behind it, the twin that must be told from it.
var reported = map[string][]string{
	"kbwo/ccmanager#227":                 {"busy without esc to interrupt", "the same turn, finished"},
	"Dicklesworthstone/ntm#79":           {"busy under a permanent mode row", "the mode row alone"},
	"Dicklesworthstone/ntm#59":           {"welcome screen", "welcome screen, box not drawn yet"},
	"Dicklesworthstone/ntm#133":          {"busy under a permanent mode row", "the mode row alone"}, // and TestSamePaths
	"onevcat/Prowl#691":                  {"elapsed in two parts", "a verb in the past"},
	"herdr#513":                          {"bullet spinner", "bullet in an answer"},
	"rjwalters/loom#1629":                {"a verb in no list", "a verb in the past"},
	"rjwalters/loom#1616":                {"a verb beyond ASCII", "a verb in the past"},
	"gavraz/recon#7":                     {"four status rows, spinner far above", "four status rows, none"},
	"herdr#2268":                         {"resume picker", "the picker quoted"},
	"anthropics/claude-code#9046":        {"an epoch in the banner", "that epoch gone by"},
	"anthropics/claude-code#12789":       {"an hour gone by", "the banner in an answer"},
	"anthropics/claude-code#40725":       {"limit menu", "another menu"},
	"anthropics/claude-code#7218":        {"retry of a 529", "a terminal 529"},
	"agent-deck#1784":                    {"an idle box in any session", "title says busy, box idle"},
	"gastownhall/gastown#3133":           {"a percentage while starting", "a shell prompt"},
	"agent-of-empires#3327":              {"an empty capture", "welcome screen"},
	"steveyegge/gastown#1387":            {"a typed draft", "the glyph with a plain space"},
	"coder/agentapi#209":                 {"theme screen with dashed rules", "welcome screen"},
	"anthropics/claude-code#47941":       {"a survey takes the next digit", "the survey in history"},
	"anthropics/claude-code#72067":       {"focus lost: no cursor cell", "focus lost in a running turn"},
	"stevehuang0115/crewly#295":          {"queued messages", "another hint"},
	"tmux/tmux#3923":                     {"wide and joined characters above", "title says busy, box idle"},
	"agent-deck#1409 (the draft's part)": {"a typed draft", "an idle box in any session"},
}

// checkReported holds that every report has its case and a twin that reads
// otherwise.
func checkReported(t *testing.T, reads map[string]string) {
	t.Helper()
	for thread, pair := range reported {
		if len(pair) != 2 || reads[pair[0]] == "" || reads[pair[1]] == "" || reads[pair[0]] == reads[pair[1]] {
			t.Errorf("%s: %q read %q and %q", thread, pair, reads[pair[0]], reads[pair[1]])
		}
	}
}

// TestLimitMenuDialog holds that the limit's menu is a dialog too, so that
// nobody presses Enter on what it has selected.
func TestLimitMenuDialog(t *testing.T) {
	e := drawn(accent+strings.Repeat("─", 100), "  What do you want to do?"+plain, "", "    1. Stop and wait for limit to reset", "  "+accent+"❯ 2. Adjust monthly spend limit: $50"+plain, "", "  Enter to confirm · Esc to cancel")
	v := Classify(e)
	if v.State != Limited || v.Dialog == nil || v.Dialog.Selected != 1 || v.Dialog.Options[1] != "Adjust monthly spend limit: $50" {
		t.Errorf("got %s with %+v", v.State, v.Dialog)
	}
}

// TestSamePaths holds that one frame gives one verdict, whoever asks.
func TestSamePaths(t *testing.T) {
	for _, c := range loadCorpus(t, "testdata/screens") {
		x := Explain(c.e)
		v, tr := x.Verdict, x.Trace
		w := Classify(c.e)
		if v.State != w.State || v.Rule != w.Rule || v.Why != w.Why || v.Draft != w.Draft {
			t.Errorf("%s: explain says %s by %s, classify %s by %s", c.id, v.State, v.Rule, w.State, w.Rule)
		}
		if n := len(tr.Rules); n == 0 || v.Rule == tr.Rules[n-1].Rule != tr.Rules[n-1].Fired {
			t.Errorf("%s: the trace ends with %+v, the verdict is by %s", c.id, tr.Rules[n-1], v.Rule)
		}
		rows := 0
		for _, r := range tr.Regions {
			rows += len(r.Lines)
		}
		if len(tr.Regions) == 0 || rows == 0 {
			t.Errorf("%s: no regions", c.id)
		}
	}
}
