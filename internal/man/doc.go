// Package man writes the manual pages of the commands, in man(7) roff.
//
// What may live here: how the text of a command's help becomes a page, and what a
// page says beyond the help. What may not: anything that the product links.
//
// cobra's own generator is not used: it takes help for Markdown, so that <host> is
// lost as a tag of HTML, in the synopsis too, and what stands between two * turns
// slanted; and it brings three modules with it (measured with cobra 1.10.2).
package man
