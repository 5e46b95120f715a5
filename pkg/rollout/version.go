package rollout

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a Kubernetes version reduced to the three numbers that are
// compared. The zero value means none: no minimum is set, or what a node
// reports can't be read. None is lower than every version, also than 0.0.0.
type Version struct {
	set                 bool
	major, minor, patch uint64
}

// V returns the version major.minor.patch.
func V(major, minor, patch uint64) Version {
	return Version{set: true, major: major, minor: minor, patch: patch}
}

// maxMinimum is the most characters that a minimum may have, the MaxLength of
// spec.minimumKubeletVersion (openshift/api, config/v1/types_node.go).
const maxMinimum = 8

// minimumForm is the strict form of that field: OpenShift's own pattern,
// ^[0-9]*.[0-9]*.[0-9]*$, also lets pass what its components then panic on.
var minimumForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// ParseMinimum reads a minimum kubelet version as it is configured and stored:
// exactly major.minor.patch, no leading zeros, at most 8 characters. The empty
// string is none. Everything else is an error that quotes s.
func ParseMinimum(s string) (Version, error) {
	if s == "" {
		return Version{}, nil
	}
	if len(s) > maxMinimum || !minimumForm.MatchString(s) {
		return Version{}, fmt.Errorf("minimum kubelet version %.40q is not major.minor.patch in at most %d characters", s, maxMinimum)
	}
	v, _ := numbers(minimumForm.FindStringSubmatch(s)) // eight digits can't overflow
	return v, nil
}

// maxKubelet bounds what is looked at of a version that a node reports, in bytes.
const maxKubelet = 256

// semantic is the expression that https://semver.org (2.0.0) suggests, with
// only the three numbers captured.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$`)

// ParseKubelet reads what a kubelet reports in its Node's
// status.nodeInfo.kubeletVersion: one leading "v" is stripped, pre-release and
// build are dropped. It returns none for what is not a semantic version of at
// most 256 bytes whose numbers fit 64 bits, as the authorizer that enforces
// the minimum reads it (openshift/library-go, pkg/apiserver/node,
// IsKubeletVersionTooOld).
func ParseKubelet(s string) Version {
	if len(s) > maxKubelet {
		return Version{}
	}
	v, ok := numbers(semantic.FindStringSubmatch(strings.TrimPrefix(s, "v")))
	if !ok {
		return Version{}
	}
	return v
}

// numbers makes a version of a match and its three groups. It fails for no
// match and for a number over 64 bits.
func numbers(match []string) (Version, bool) {
	if len(match) != 4 {
		return Version{}, false
	}
	var n [3]uint64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseUint(match[i+1], 10, 64); err != nil {
			return Version{}, false
		}
	}
	return V(n[0], n[1], n[2]), true
}

// IsZero tells whether v is none.
func (v Version) IsZero() bool { return v == Version{} }

// Compare returns -1, 0 or +1 as v is lower than, equal to or higher than w.
func (v Version) Compare(w Version) int {
	switch {
	case v.set != w.set && w.set:
		return -1
	case v.set != w.set:
		return +1
	}
	return cmp.Or(
		cmp.Compare(v.major, w.major),
		cmp.Compare(v.minor, w.minor),
		cmp.Compare(v.patch, w.patch),
	)
}

// Less tells whether v is lower than w. A kubelet v is too old for a minimum w
// exactly if v.Less(w).
func (v Version) Less(w Version) bool { return v.Compare(w) < 0 }

// String returns major.minor.patch, or "none".
func (v Version) String() string {
	if v.IsZero() {
		return "none"
	}
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}

// MarshalText returns what ParseMinimum reads, the empty string for none. It
// fails for a version of more than 8 characters.
func (v Version) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return []byte{}, nil
	}
	text := v.String()
	if _, err := ParseMinimum(text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}

// UnmarshalText is ParseMinimum.
func (v *Version) UnmarshalText(text []byte) (err error) {
	*v, err = ParseMinimum(string(text))
	return err
}

// higher returns the higher of v and w.
func higher(v, w Version) Version {
	if v.Less(w) {
		return w
	}
	return v
}
