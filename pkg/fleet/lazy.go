package fleet

import (
	"regexp"
	"sync"
)

// lazyRegexp is an expression that is compiled when it is first asked for: most
// programs need few of them, and every program would wait for all as it starts.
func lazyRegexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
