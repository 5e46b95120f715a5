package gates

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSuggest(t *testing.T) {
	reg := registryOf(t, 36)
	for _, tc := range []struct{ name, want string }{
		{"MemoryQos", "MemoryQoS"},
		{"memoryqos", "MemoryQoS"},
		{"MEMORYQOS", "MemoryQoS"},
		{"MemroyQoS", "MemoryQoS"},
		{"MemoryQo", "MemoryQoS"},
		{"MemoryQoSS", "MemoryQoS"},
		{"UserNamespaceSupport", "UserNamespacesSupport"},
		{"RouteExternalCertificates", "RouteExternalCertificate"},
		{"UnknownVersionInteropProxy", ""},
		{"MemoryQoS", "MemoryQoS"},
		{"Memory", ""},
		{"", ""},
		{"NothingLikeAnyGateAtAll", ""},
		{strings.Repeat("MemoryQoS", 100), ""},
	} {
		if got := reg.Suggest(tc.name); got != tc.want {
			t.Errorf("Suggest(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func FuzzSuggest(f *testing.F) {
	for _, name := range []string{"MemoryQos", "", "A=true", "MemoryQoЅ", "\xff\xfe", strings.Repeat("a", 1000)} {
		f.Add(name)
	}
	reg := registryOf(f, 36)
	f.Fuzz(func(t *testing.T, name string) {
		got := reg.Suggest(name)
		if got == "" {
			return
		}
		if _, ok := reg.Gate(got); !ok {
			t.Errorf("Suggest(%q) = %q, want a known gate", name, got)
		}
		if n := utf8.RuneCountInString(name); n > len(got)+4 {
			t.Errorf("Suggest(%q) = %q although it is %d letters longer", name, got, n-len(got))
		}
		if got != reg.Suggest(got) {
			t.Errorf("Suggest(%q) = %q, which suggests %q", name, got, reg.Suggest(got))
		}
	})
}

func BenchmarkSuggest(b *testing.B) {
	reg := registryOf(b, 36)
	for b.Loop() {
		reg.Suggest("UserNamespacesPodSecurityStandrds")
	}
}
