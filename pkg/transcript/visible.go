package transcript

import "unicode"

// Invisible tells the characters that are drawn as nothing and mostly mean
// nothing: joiners, direction marks, variation selectors, tags, fillers. The
// client (2.1.332) takes out those that no script or emoji around them calls for,
// says so, and then wants Enter pressed anew.
func Invisible(r rune) bool {
	if r < 0xa0 {
		return false
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
