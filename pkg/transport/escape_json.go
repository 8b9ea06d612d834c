package transport

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// EscapeJSON writes what a terminal might obey as JSON escapes, which a reader
// of JSON turns back: encoding/json does so only below U+0020.
func EscapeJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x7f || r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}
