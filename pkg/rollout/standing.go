package rollout

import "github.com/microshift-io/microshift-feature-gates/pkg/gates"

// StandingIn returns how gates stand in the Kubernetes of reg, for
// DefaultGuards. A gate that is not in force yet counts as Unknown.
func StandingIn(reg *gates.Registry) func(gate string) Standing {
	return func(name string) Standing {
		gate, ok := reg.Gate(name)
		switch {
		case !ok || gate.Stage == "":
			return Unknown
		case gate.Locked && gate.Default:
			return LockedOn
		case gate.Locked:
			return LockedOff
		}
		return Settable
	}
}
