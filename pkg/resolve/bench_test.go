package resolve_test

import (
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/config"
	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/resolve"
)

// BenchmarkGates resolves each kind of feature set. The registry and the
// manifests are decoded once, before.
func BenchmarkGates(b *testing.B) {
	reg := registry(b, "1.36")
	for _, set := range []string{gates.TechPreviewNoUpgrade, gates.DevPreviewNoUpgrade, gates.CustomNoUpgrade} {
		b.Run(set, func(b *testing.B) {
			cfg := asCustom(map[string]bool{"MemoryQoS": true, "WatchList": false})
			if set != gates.CustomNoUpgrade {
				cfg = asCustom(nil)
				cfg.FeatureGates.FeatureSet = config.Value[string]{V: set, Origin: at(1)}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, diags, err := resolve.Gates(cfg, reg, 5); err != nil || diags.Err() != nil {
					b.Fatal(err, diags)
				}
			}
		})
	}
}
