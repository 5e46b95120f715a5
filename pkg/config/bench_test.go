package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"
)

// dropIn is a drop-in as packages install it.
func dropIn(i int) string {
	return fmt.Sprintf(`# installed by edge-%03[1]d.rpm
apiServer:
  subjectAltNames:
    - edge-%03[1]d.example.com
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade:
      enabled: [MemoryQoS, Gate%[1]d]
network:
  serviceNodePortRange: 30000-32767
`, i)
}

// dropIns writes n drop-ins and returns where they are.
func dropIns(tb testing.TB, n int) (p Paths, names []string) {
	tb.Helper()
	dir := tb.TempDir()
	p = Paths{Config: filepath.Join(dir, "config.yaml"), Dir: filepath.Join(dir, "config.d")}
	if err := os.Mkdir(p.Dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		name := filepath.Join(p.Dir, fmt.Sprintf("%05d.yaml", i))
		if err := os.WriteFile(name, []byte(dropIn(i)), 0o644); err != nil {
			tb.Fatal(err)
		}
		names = append(names, name)
	}
	return p, names
}

// BenchmarkReadMerge reads and merges drop-ins. "ratio" is the processor time
// that it takes by what it takes to read the same files and have
// sigs.k8s.io/yaml decode each of them, in turns.
func BenchmarkReadMerge(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			paths, names := dropIns(b, n)
			var ours, floor time.Duration
			for b.Loop() {
				start := processorTime()
				files, _, err := Read(paths)
				if err != nil || len(files) != n {
					b.Fatalf("%d files, want %d: %v", len(files), n, err)
				}
				if _, problems := Merge(files); len(problems) > 0 {
					b.Fatal(problems)
				}
				between := processorTime()
				for _, name := range names {
					data, err := os.ReadFile(name)
					if err != nil {
						b.Fatal(err)
					}
					var m map[string]any
					if err := sigsyaml.Unmarshal(data, &m); err != nil {
						b.Fatal(err)
					}
				}
				ours += between - start
				floor += processorTime() - between
			}
			b.ReportMetric(float64(ours)/float64(floor), "ratio")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/float64(n), "ns/file")
		})
	}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails for bad arguments only
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestLinear wants ten times the drop-ins to take about ten times the memory,
// which stands for work: whatever is done to a value allocates.
func TestLinear(t *testing.T) {
	work := func(n int) uint64 {
		paths, _ := dropIns(t, n)
		return allocated(func() {
			files, _, err := Read(paths)
			if err != nil {
				t.Fatal(err)
			}
			Merge(files)
		})
	}
	small, large := work(100), work(1000)
	if growth := float64(large) / float64(small); growth > 10.5 {
		t.Errorf("ten times the drop-ins take %.1f times the memory, want at most 10.5", growth)
	}
}
