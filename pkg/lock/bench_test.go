package lock

import (
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "no-upgrade")
	must(b, start(path, custom("MemoryQoS", "B", "C"), "4.21.0"))
	for b.Loop() {
		if _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHeldStart(b *testing.B) {
	path := filepath.Join(b.TempDir(), "no-upgrade")
	must(b, start(path, custom("MemoryQoS", "B", "C"), "4.21.0"))
	for b.Loop() {
		must(b, start(path, custom("MemoryQoS", "B", "C"), "4.21.0"))
	}
}

// BenchmarkWrite shows what of a write is the disk's: the same calls without
// fsync(2) are beside it.
func BenchmarkWrite(b *testing.B) {
	text := []byte(encodeLock(b, locks(b)["long"]))
	b.Run("durable", func(b *testing.B) {
		dir, err := openDirectory(b.TempDir())
		must(b, err)
		defer dir.Close()
		for b.Loop() {
			must(b, write(dir, "no-upgrade", text, false))
		}
	})
	b.Run("without-fsync", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "no-upgrade")
		for b.Loop() {
			must(b, os.WriteFile(path+".tmp", text, 0o600))
			must(b, os.Rename(path+".tmp", path))
		}
	})
}

func BenchmarkParseLongest(b *testing.B) {
	text := []byte(encodeLock(b, locks(b)["long"]))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse("no-upgrade", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChangedStart(b *testing.B) {
	path := filepath.Join(b.TempDir(), "no-upgrade")
	for i := 0; b.Loop(); i++ {
		must(b, start(path, custom([]string{"A", "B"}[i%2], "", ""), "4.21.0"))
	}
}
