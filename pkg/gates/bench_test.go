package gates

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

// BenchmarkLoad is what a start pays once: decoding and checking one registry.
func BenchmarkLoad(b *testing.B) {
	kube := version.MajorMinor(1, 36)
	data, err := assets.FS.ReadFile("gates/kubernetes-1.36.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := newRegistry(kube, string(data)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode is the part of BenchmarkLoad that depends on the file format.
func BenchmarkDecode(b *testing.B) {
	data, err := assets.FS.ReadFile("gates/kubernetes-1.36.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decode(string(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFeatureGate(b *testing.B) {
	kube := version.MajorMinor(1, 36)
	b.ReportAllocs()
	for b.Loop() {
		reg, _, err := ForVersion(kube)
		if err != nil {
			b.Fatal(err)
		}
		reg.FeatureGate()
	}
}
