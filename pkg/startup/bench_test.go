package startup_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// BenchmarkPipeline measures what a start does besides writing and logging
// (read, merge, resolve, check the lock) for a number of drop-ins, beside the
// floor: reading the same files and decoding each with sigs.k8s.io/yaml, which
// MicroShift does anyway. Both run in turn, so that the ratio holds on a
// machine whose speed drifts.
func BenchmarkPipeline(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("dropins=%d", n), func(b *testing.B) {
			files := map[string]string{configFile: memoryQoS, lockFile: locked500}
			for i := range n {
				files[fmt.Sprintf("etc/microshift/config.d/%04d.yaml", i)] = fmt.Sprintf(
					"# drop-in of application %d\nnetwork:\n  clusterNetwork:\n    - 10.42.0.0/16\nmanifests:\n  kustomizePaths:\n    - /usr/lib/app%d\napiServer:\n  featureGates:\n    customNoUpgrade:\n      enabled:\n        - MemoryQoS\n", i, i)
			}
			root := device(b, files)
			o := options(b, root, "5.0.0", new(bytes.Buffer))
			var pipeline, floor time.Duration
			b.ReportAllocs()
			for b.Loop() {
				begin := time.Now()
				out, err := startup.Look(o)
				if err != nil || out.Diagnostics.Err() != nil {
					b.Fatal(err, out.Diagnostics)
				}
				pipeline += time.Since(begin)
				begin = time.Now()
				decodeAll(b, root)
				floor += time.Since(begin)
			}
			b.ReportMetric(float64(pipeline.Microseconds())/float64(b.N), "pipeline-µs/op")
			b.ReportMetric(float64(floor.Microseconds())/float64(b.N), "floor-µs/op")
			b.ReportMetric(float64(pipeline)/float64(floor), "ratio")
		})
	}
}

func decodeAll(b *testing.B, root string) {
	dropIns, err := filepath.Glob(filepath.Join(root, "etc/microshift/config.d/*.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range append(dropIns, filepath.Join(root, configFile)) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		var m map[string]any
		if err := yaml.Unmarshal(data, &m); err != nil {
			b.Fatal(err)
		}
	}
}
