package lock_test

import (
	"fmt"
	"time"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
)

func ExampleCheck() {
	custom := lock.Section{FeatureSet: "CustomNoUpgrade"}
	custom.CustomNoUpgrade.Enabled = []string{"MemoryQoS"}
	v421, _ := lock.ParseVersion("4.21.0")
	v422, _ := lock.ParseVersion("4.22.0")
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

	first := lock.Check(nil, custom, v421, lock.PolicyNone, at)
	fmt.Println(first.Kind, first.Refused())

	again := lock.Check(first.Next, custom, v421, lock.PolicyNone, at)
	fmt.Println(again.Kind, again.Next == nil)

	upgrade := lock.Check(first.Next, custom, v422, lock.PolicyNone, at)
	fmt.Println(upgrade.Kind, upgrade.Refused(), upgrade.Blocking.Enabled)

	custom.Exceptions.Enabled = []string{"MemoryQoS"}
	exempt := lock.Check(first.Next, custom, v422, lock.PolicyNone, at)
	fmt.Println(exempt.Kind, exempt.Next.Version)
	// Output:
	// created false
	// held true
	// refused-version true [MemoryQoS]
	// moved-by-exception 4.22.0
}
