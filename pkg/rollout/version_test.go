package rollout

import (
	"fmt"
	"strings"
	"testing"
)

// The table of the design page, then what lies around it.
func TestParseKubelet(t *testing.T) {
	const satisfied, outdated, unknown = "satisfied", "outdated", "unknown"
	minimum := V(1, 30, 0)
	for _, tt := range []struct{ kubelet, want string }{
		{"1.30.0", satisfied},
		{"v1.30.0", satisfied},
		{"1.30.0-ec.0", satisfied},
		{"1.31.0", satisfied},
		{"v1.29.8-20+15d27f9ba1c119", outdated},
		{"1.29.0", outdated},
		{"", unknown},
		{"bogus", unknown},
		{"1.30", unknown},

		{"v1.36.2+k3s1", satisfied},
		{"2.0.0", satisfied},
		{"1.100.0", satisfied},
		{"1.9.99", outdated},
		{"0.0.0", outdated},
		{"1.30.0-0", satisfied},
		{"vv1.30.0", unknown},
		{"V1.30.0", unknown},
		{"1.30.0.0", unknown},
		{"1.30.0-", unknown},
		{"1.30.0-01", unknown},
		{"1.30.0+", unknown},
		{"1.030.0", unknown},
		{" 1.30.0", unknown},
		{"1.30.0\n", unknown},
		{"-1.30.0", unknown},
		{"1.30.x", unknown},
		{"1.٣٠.0", unknown},
		{"1.18446744073709551615.0", satisfied},
		{"1.18446744073709551616.0", unknown},
		{"1.30.0+" + strings.Repeat("a", 300), unknown},
		{strings.Repeat("v", 1<<20), unknown},
	} {
		got := satisfied
		switch v := ParseKubelet(tt.kubelet); {
		case v.IsZero():
			got = unknown
		case v.Less(minimum):
			got = outdated
		}
		if got != tt.want {
			t.Errorf("kubelet %.40q, minimum %v: %s, want %s", tt.kubelet, minimum, got, tt.want)
		}
	}
}

func TestParseMinimum(t *testing.T) {
	for _, s := range []string{"0.0.0", "1.30.0", "1.36.12", "9.999.99", "99.99.99"} {
		v, err := ParseMinimum(s)
		if err != nil || v.String() != s {
			t.Errorf("ParseMinimum(%q) = %v, %v", s, v, err)
		}
	}
	if v, err := ParseMinimum(""); err != nil || !v.IsZero() || v.String() != "none" {
		t.Errorf(`ParseMinimum("") = %v, %v`, v, err)
	}
	for _, s := range []string{
		"v1.30.0", "1.30", "1.30.0.0", "1.30.0-0", "01.30.0", "1.030.0", "1.30.00", "1..0", "..", "1x30x0",
		"100.99.99", "1.30.0\n", " 1.30.0", "1.30.0 ", "none", "bogus", "1.-3.0", "+1.30.0",
	} {
		v, err := ParseMinimum(s)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) || !v.IsZero() {
			t.Errorf("ParseMinimum(%q) = %v, %v; want an error that quotes it", s, v, err)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	ascending := []Version{{}, V(0, 0, 0), V(0, 0, 1), V(0, 1, 0), V(1, 9, 9), V(1, 29, 8), V(1, 30, 0), V(1, 30, 10), V(2, 0, 0)}
	for i, v := range ascending {
		for j, w := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if v.Compare(w) != want || v.Less(w) != (want < 0) {
				t.Errorf("%v.Compare(%v) = %d, want %d", v, w, v.Compare(w), want)
			}
		}
	}
	if _, err := V(1, 1000, 100).MarshalText(); err == nil {
		t.Error("a version that ParseMinimum refuses was marshalled")
	}
}

func FuzzVersion(f *testing.F) {
	for _, s := range []string{"", "1.30.0", "v1.30.0", "v1.29.8-20+15d27f9ba1c119", "1.30", "bogus", "1.30.0-ec.0", "99.99.99", "1.2.3-01", "1.18446744073709551616.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := ParseKubelet(s)
		if !k.IsZero() {
			core, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "+")
			core, _, _ = strings.Cut(core, "-")
			if k.String() != core {
				t.Errorf("ParseKubelet(%q) = %v", s, k)
			}
			if !strings.HasPrefix(s, "v") && ParseKubelet("v"+s) != k && len(s) < 256 {
				t.Errorf("a v in front of %q makes a difference", s)
			}
			if k.Less(k) || !(Version{}).Less(k) {
				t.Errorf("%v is not in order", k)
			}
		}
		m, err := ParseMinimum(s)
		if err != nil {
			return
		}
		text, err := m.MarshalText()
		if err != nil || string(text) != s {
			t.Errorf("%q came back as %q, %v", s, text, err)
		}
		if !m.IsZero() && ParseKubelet(s) != m {
			t.Errorf("%q is a minimum and not a kubelet's version", s)
		}
	})
}
