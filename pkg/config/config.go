// Package config reads MicroShift's configuration files and merges them as
// MicroShift does, keeping for every value the place that set it.
//
// It does not know which feature gates or feature sets exist; package resolve
// judges what the section asks for.
package config

import "github.com/microshift-io/microshift-feature-gates/pkg/diag"

// Origin tells where a value comes from.
type Origin struct {
	// Pos is the place of the value; the zero Position where nothing sets it.
	Pos diag.Position
	// Path is the value's YAML path, such as apiServer.featureGates.featureSet.
	Path string
}

// Value is a value of the configuration with its origin. Where the
// configuration does not have the value, V and Origin.Pos are zero.
type Value[T any] struct {
	V      T
	Origin Origin
	// Replaced holds the earlier values that later files replaced, oldest first.
	Replaced []Value[T]
}

// Present reports whether a file sets the value, be it to an empty one.
func (v Value[T]) Present() bool { return v.Origin.Pos != diag.Position{} }

// Names is a list of gate names as written, each with its own origin; the
// list's own Replaced holds the earlier lists it replaced. Items of a wrong
// type are left out (Merge reports them).
type Names = Value[[]Value[string]]

// Lists is one group of gates: customNoUpgrade or
// specialHandlingSupportExceptionRequired.
type Lists struct {
	Enabled, Disabled Names
}

// Empty reports whether neither list has an item.
func (l Lists) Empty() bool { return len(l.Enabled.V) == 0 && len(l.Disabled.V) == 0 }

// FeatureGates is the section apiServer.featureGates. Its zero value is an
// absent section.
type FeatureGates struct {
	// FeatureSet is the text as written, valid or not; empty where absent.
	FeatureSet Value[string]
	// CustomNoUpgrade holds the gates that block an upgrade.
	CustomNoUpgrade Lists
	// Exceptions is specialHandlingSupportExceptionRequired: gates that do not
	// block an upgrade.
	Exceptions Lists
	// MinimumKubeletVersion is the text as written, valid or not; empty where absent.
	MinimumKubeletVersion Value[string]
}

// Config is the merged configuration, as far as this module needs it.
type Config struct {
	// Files names the files that were read, in merge order.
	Files []string
	// FeatureGates is apiServer.featureGates.
	FeatureGates FeatureGates
	// Kubelet is kubelet.featureGates, which MicroShift passes on to the
	// KubeletConfiguration: gate name to value. It is nil where absent.
	Kubelet map[string]Value[bool]
}
