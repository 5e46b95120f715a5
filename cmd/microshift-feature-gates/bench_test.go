package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkProcess measures whole processes of the command as it is shipped: a
// start whose lock is written already, for a number of drop-ins, in turn with
// version, which reads nothing. CPU is user and system time. The largest
// resident set is measured where there is GNU time: Linux counts what a process
// had before exec(2), and the test has more than the command.
func BenchmarkProcess(b *testing.B) {
	binary := filepath.Join(b.TempDir(), command)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, n := range []int{0, 100, 1000} {
		b.Run(fmt.Sprintf("prestart/dropins=%d", n), func(b *testing.B) {
			root := deviceWith(b, n)
			start := []string{binary, "--root", root, "--microshift-version", "5.0.0", "prestart"}
			cpuTime(b, start...) // writes the lock
			var version, prestart time.Duration
			for b.Loop() {
				version += cpuTime(b, binary, "version")
				prestart += cpuTime(b, start...)
			}
			b.ReportMetric(float64(prestart.Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(version.Microseconds())/1000/float64(b.N), "version-cpu-ms/op")
			b.ReportMetric(float64(prestart)/float64(version), "x-version")
			if peak := peakKiB(b, start...); peak > 0 {
				b.ReportMetric(peak/1024, "peak-MiB")
			}
		})
	}
}

// deviceWith returns the root of a device with a configured gate and drop-ins.
func deviceWith(b *testing.B, dropIns int) string {
	b.Helper()
	root := b.TempDir()
	dir := filepath.Join(root, "etc/microshift/config.d")
	files := map[string]string{filepath.Join(root, "etc/microshift/config.yaml"): "apiServer:\n  featureGates:\n    featureSet: CustomNoUpgrade\n" +
		"    customNoUpgrade:\n      enabled:\n        - MemoryQoS\n"}
	for i := range dropIns {
		files[filepath.Join(dir, fmt.Sprintf("%04d.yaml", i))] = fmt.Sprintf(
			"network:\n  clusterNetwork:\n    - 10.42.0.0/16\nmanifests:\n  kustomizePaths:\n    - /usr/lib/app%d\n", i)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// cpuTime runs a program, and returns the CPU time that it used.
func cpuTime(b *testing.B, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// peakKiB returns the largest resident set of a run, 0 without GNU time.
func peakKiB(b *testing.B, args ...string) (peak float64) {
	b.Helper()
	const gnuTime = "/usr/bin/time"
	if _, err := os.Stat(gnuTime); err != nil {
		return 0
	}
	file := filepath.Join(b.TempDir(), "peak")
	cpuTime(b, append([]string{gnuTime, "-f", "%M", "-o", file}, args...)...)
	data, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscan(string(data), &peak); err != nil {
		b.Fatal(err)
	}
	return peak
}
