package diag_test

import (
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

func TestNearest(t *testing.T) {
	known := []string{"MemoryQoS", "CustomNoUpgrade", "enabled", "disabled", "ab"}
	for _, tt := range []struct{ word, want string }{
		{"MemoryQos", "MemoryQoS"},               // case
		{"MemoryQS", "MemoryQoS"},                // a letter missing
		{"MemroyQoS", "MemoryQoS"},               // two letters swapped
		{"enable", "enabled"},                    // one in six
		{"enbaeld", ""},                          // two swaps in seven letters are too many
		{"CustomNoUpgrad", "CustomNoUpgrade"},    // two of fourteen would do
		{"CstomNoUpgrde", "CustomNoUpgrade"},     // two
		{"customNoUpgrade", "CustomNoUpgrade"},   // case
		{"b", "ab"},                              // always one
		{"", ""},                                 // nothing is near to nothing
		{"SomethingElse", ""},                    //
		{strings.Repeat("MemoryQoS", 1<<16), ""}, // long words cost nothing
		{"Memory\x00QoS", "MemoryQoS"},           // bytes are bytes
	} {
		if got := diag.Nearest(tt.word, known); got != tt.want {
			t.Errorf("Nearest(%.40q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
