package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// nameForm is the form of a gate's name in OpenShift's FeatureGate object
// (github.com/openshift/api config/v1, FeatureGateName).
var nameForm = regexp.MustCompile(`^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+\.?$`)

// nameOK reports an item that can't be the name of a gate.
func (v *validator) nameOK(item config.Value[string], g group) bool {
	if nameForm.MatchString(item.V) {
		return true
	}
	message, hint := badName(item.V, g.enabled)
	v.at(diag.Error, "gate-name", item.Origin, message, hint)
	return false
}

// badName says what is wrong with a name and how to write it.
func badName(name string, enabled bool) (message, hint string) {
	trimmed := strings.TrimFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cf) || isQuote(r) })
	switch {
	case name == "":
		return "the name of the gate is empty", "remove the item, or write a name"
	case trimmed == "":
		return fmt.Sprintf("the name of the gate is blank: %s", quote(name)), "remove the item, or write a name"
	case strings.ContainsAny(name, "=,"):
		return fmt.Sprintf("%s is not the name of a gate", quote(name)), splitHint(name, enabled)
	case nameForm.MatchString(trimmed):
		return fmt.Sprintf("%s has characters around the name of the gate", quote(name)), "write it without them: " + trimmed
	case strings.Contains(name, ":"):
		return fmt.Sprintf("%s is not the name of a gate", quote(name)),
			"write the bare name: the list already says whether it is enabled, and for which component is not said here"
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
		r := []rune(name[i:])[0]
		return fmt.Sprintf("%s has the character %U, which no gate has", quote(name), r), "type the name with plain letters; some characters only look like them"
	}
	return fmt.Sprintf("%s is not the name of a gate", quote(name)), "names have letters, digits, dashes and dots only"
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`‘’“”«»", r) }

// splitHint shows "A=true,B=false" or "A, B" as list items.
func splitHint(text string, enabled bool) string {
	lists := map[bool][]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, assigned := strings.Cut(part, "=")
		on := enabled
		if b, err := strconv.ParseBool(strings.TrimSpace(value)); assigned && err == nil {
			on = b
		}
		if name = strings.TrimSpace(name); nameForm.MatchString(name) && !slices.Contains(lists[on], name) {
			lists[on] = append(lists[on], name)
		}
	}
	var parts []string
	for _, on := range []bool{true, false} {
		if len(lists[on]) > 0 {
			key := map[bool]string{true: "enabled", false: "disabled"}[on]
			parts = append(parts, fmt.Sprintf("%s: [%s]", key, strings.Join(lists[on], ", ")))
		}
	}
	if len(parts) == 0 {
		return "write one bare name in each list item"
	}
	return "write one bare name in each list item: " + strings.Join(parts, " and ")
}

// quote returns text in quotes, on one line, shortened to 80 bytes.
func quote(text string) string {
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return strconv.Quote(text)
}
