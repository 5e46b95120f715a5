package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoteMax is how many bytes Quote and Printable keep of a text.
const quoteMax = 80

// Quote returns text in double quotes, on one line and cut to about 80 bytes,
// with everything escaped that does not print as itself: line breaks, terminal
// control sequences, the controls that turn the reading direction, invisible
// characters, and bytes that are not UTF-8.
func Quote(text string) string {
	return strconv.Quote(shorten(text))
}

// Printable returns text as it is where that is harmless to print, else what
// Quote returns.
func Printable(text string) string {
	if harmless(text) && len(text) <= quoteMax {
		return text
	}
	return Quote(text)
}

// PrintableFile is Printable for the name of a file, which is never cut.
func PrintableFile(name string) string {
	if harmless(name) {
		return name
	}
	return strconv.Quote(name)
}

// harmless reports whether text prints as itself.
func harmless(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !strconv.IsPrint(r) || r == '"' || r == '\\' {
			return false
		}
	}
	return true
}

// shorten cuts text between two characters and marks the cut.
func shorten(text string) string {
	if len(text) <= quoteMax {
		return text
	}
	end := quoteMax
	for end > quoteMax-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// visible returns text with every character escaped that does not print as
// itself, and nothing else changed.
func visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(visibleChar(r, text[i:i+size]))
		i += size
	}
	return b.String()
}

// visibleChar is visible for one character, r, that is text in the file.
func visibleChar(r rune, text string) string {
	if strconv.IsPrint(r) && (r != utf8.RuneError || len(text) > 1) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// width is how many cells of a terminal a printable text takes: two for East
// Asian wide characters and emoji (Unicode Standard Annex 11), none for marks
// that combine with the character before.
func width(text string) int {
	cells := 0
	for _, r := range text {
		switch {
		case r < 0x300:
			cells++
		case unicode.In(r, unicode.Mn, unicode.Me):
		case r >= 0xFF61 && r <= 0xFFDC: // half-width forms
			cells++
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
			r >= 0x3000 && r <= 0x303F, r >= 0xFF01 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1FAFF:
			cells += 2
		default:
			cells++
		}
	}
	return cells
}
