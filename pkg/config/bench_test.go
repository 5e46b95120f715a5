package config

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"
)

const typical = `# installed by edge-%03[1]d.rpm
apiServer:
  subjectAltNames:
    - edge-%03[1]d.example.com
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [MemoryQoS, Gate%[1]d]
network:
  serviceNodePortRange: 30000-32767
`

func BenchmarkReadMerge(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			p := Paths{Config: filepath.Join(dir, "config.yaml"), Dir: filepath.Join(dir, "config.d")}
			os.Mkdir(p.Dir, 0o755)
			var names []string
			for i := range n {
				name := filepath.Join(p.Dir, fmt.Sprintf("%05d.yaml", i))
				os.WriteFile(name, []byte(fmt.Sprintf(typical, i)), 0o644)
				names = append(names, name)
			}
			var ours, floor time.Duration
			for b.Loop() {
				t0 := time.Now()
				files, _, err := Read(p)
				if err != nil || len(files) != n {
					b.Fatal(err, len(files))
				}
				if _, d := Merge(files); len(d) > 0 {
					b.Fatal(d)
				}
				t1 := time.Now()
				for _, name := range names {
					data, _ := os.ReadFile(name)
					var m map[string]any
					if err := sigsyaml.Unmarshal(data, &m); err != nil {
						b.Fatal(err)
					}
				}
				ours += t1.Sub(t0)
				floor += time.Since(t1)
			}
			b.ReportMetric(float64(ours)/float64(floor), "ratio")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ours-ns")
		})
	}
}
