package transcript

import "fmt"

// StillFragment is the sh text that prints nothing while the client of that process
// has that conversation open, as its own file says, and while that has something
// said in it as begun says; else it prints a word.
func StillFragment(pid int, id string, begun bool) string {
	id = safeID(id)
	test := `[ -z "$(newest ` + id + `)" ] || echo begun`
	if begun {
		test = ":"
	}
	return configDir + fmt.Sprintf(`if LC_ALL=C grep -q '"sessionId" *: *"%s"' "$base/sessions/%d.json" 2>/dev/null; then %s; else echo other; fi
`, id, pid, test)
}
