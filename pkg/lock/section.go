package lock

import (
	"slices"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
)

// customNoUpgrade is the feature set whose gates are the user's own lists. Of
// every other set only the name counts.
const customNoUpgrade = "CustomNoUpgrade"

// Lists holds the names of gates that are switched on and off, each list
// sorted and without repetitions.
type Lists struct {
	Enabled  []string `json:"enabled,omitempty"`
	Disabled []string `json:"disabled,omitempty"`
}

// Gates holds the two groups of gates that a user can set. It also describes
// a difference: what was added, or what was removed.
type Gates struct {
	// CustomNoUpgrade holds the gates that block an upgrade.
	CustomNoUpgrade Lists `json:"customNoUpgrade,omitzero"`
	// Exceptions is specialHandlingSupportExceptionRequired: gates that a
	// support exception lets through an upgrade.
	Exceptions Lists `json:"specialHandlingSupportExceptionRequired,omitzero"`
}

// Section is what the lock compares: the feature set and the user's gates.
// FeatureSet is empty where none is set.
type Section struct {
	FeatureSet string `json:"featureSet"`
	Gates
}

// SectionOf takes the part of the configuration that the lock is about.
func SectionOf(fg config.FeatureGates) Section {
	return Section{
		FeatureSet: fg.FeatureSet.V,
		Gates: Gates{
			CustomNoUpgrade: listsOf(fg.CustomNoUpgrade),
			Exceptions:      listsOf(fg.Exceptions),
		},
	}
}

func listsOf(l config.Lists) Lists {
	values := func(names config.Names) []string {
		var out []string
		for _, n := range names.V {
			out = append(out, n.V)
		}
		return out
	}
	return Lists{Enabled: values(l.Enabled), Disabled: values(l.Disabled)}.normal()
}

// IsZero reports whether neither list has a name.
func (l Lists) IsZero() bool { return len(l.Enabled) == 0 && len(l.Disabled) == 0 }

// normal returns l sorted and without repetitions.
func (l Lists) normal() Lists {
	return Lists{Enabled: union(l.Enabled, nil), Disabled: union(l.Disabled, nil)}
}

func (l Lists) union(m Lists) Lists {
	return Lists{Enabled: union(l.Enabled, m.Enabled), Disabled: union(l.Disabled, m.Disabled)}
}

// minus returns what l has and m lacks. A gate that one enables and the other
// disables is not the same setting, so it stays.
func (l Lists) minus(m Lists) Lists {
	return Lists{Enabled: minus(l.Enabled, m.Enabled), Disabled: minus(l.Disabled, m.Disabled)}
}

// IsZero reports whether no list has a name.
func (g Gates) IsZero() bool { return g.CustomNoUpgrade.IsZero() && g.Exceptions.IsZero() }

func (g Gates) normal() Gates {
	return Gates{CustomNoUpgrade: g.CustomNoUpgrade.normal(), Exceptions: g.Exceptions.normal()}
}

func (g Gates) union(h Gates) Gates {
	return Gates{CustomNoUpgrade: g.CustomNoUpgrade.union(h.CustomNoUpgrade), Exceptions: g.Exceptions.union(h.Exceptions)}
}

func (g Gates) minus(h Gates) Gates {
	return Gates{CustomNoUpgrade: g.CustomNoUpgrade.minus(h.CustomNoUpgrade), Exceptions: g.Exceptions.minus(h.Exceptions)}
}

// unexempted returns the gates of customNoUpgrade that are not exceptions too.
func (g Gates) unexempted() Lists { return g.CustomNoUpgrade.minus(g.Exceptions) }

// union returns the names of both lists, sorted and each once; nil for none.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return some(slices.Compact(out))
}

// minus returns the names of a that are not in b, which is sorted; nil for none.
func minus(a, b []string) []string {
	return some(slices.DeleteFunc(slices.Clone(a), func(name string) bool {
		_, found := slices.BinarySearch(b, name)
		return found
	}))
}

func some(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return names
}
