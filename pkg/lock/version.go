package lock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ErrNoDataVersion says that the data directory does not tell which version
// wrote it: the version file is absent or empty.
var ErrNoDataVersion = errors.New("no version of the data is recorded")

const (
	maxVersionText = 128      // bytes; the longest nightly names have about 60
	maxVersionFile = 64 << 10 // bytes
)

// Version is a version of MicroShift.
type Version struct {
	Major, Minor, Patch int
	// Text is the version as it was written, for display: 4.21.0~rc.1.
	Text string
}

// A number has at most nine digits, so it fits an int of any size. A suffix is
// printable ASCII, so a version can be shown as it is.
var versionPattern = regexp.MustCompile(`^v?([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})(?:[-~_+^][!-~]*)?$`)

// ParseVersion reads X.Y.Z, be it with a leading v, surrounding white space, or
// a suffix such as ~rc.1, -0.nightly-2026-07-23-224236 or _202608010000.p0.
// Anything else is an error.
func ParseVersion(text string) (Version, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxVersionText {
		return Version{}, fmt.Errorf("version %s is over %d bytes", quote(text), maxVersionText)
	}
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("version %s is not of the form X.Y.Z", quote(text))
	}
	v := Version{Text: text}
	for i, n := range []*int{&v.Major, &v.Minor, &v.Patch} {
		var err error
		if *n, err = strconv.Atoi(m[i+1]); err != nil {
			return Version{}, fmt.Errorf("version %s: %w", quote(text), err)
		}
	}
	return v, nil
}

// Compare is negative where v is older than w, positive where it is newer, and
// zero where both have the same numbers. Suffixes do not count.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// String returns the version as it was written, or else X.Y.Z.
func (v Version) String() string {
	if v.Text != "" {
		return v.Text
	}
	return v.release().Text
}

// release returns v without its suffix, the form that MicroShift can read in a
// lock.
func (v Version) release() Version {
	v.Text = fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	return v
}

// ReadDataVersion reads the version that last ran on a data directory from its
// version file: JSON with a field "version", or plain text as written before
// 4.14. The error is ErrNoDataVersion where the file is absent or, as MicroShift
// has it, empty.
func ReadDataVersion(path string) (Version, error) {
	dir, err := openDirectory(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return Version{}, fmt.Errorf("%s: %w", path, ErrNoDataVersion)
	}
	if err != nil {
		return Version{}, err
	}
	defer dir.Close()
	data, err := readRegular(dir, path, maxVersionFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(data) == 0:
		return Version{}, fmt.Errorf("%s: %w", path, ErrNoDataVersion)
	case err != nil:
		return Version{}, err
	}
	text := string(data)
	var file struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &file) == nil {
		text = file.Version
	}
	v, err := ParseVersion(text)
	if err != nil {
		return Version{}, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// quote makes text from a file safe to print: escaped, and cut where it is long.
func quote(s string) string {
	const limit = 64
	if len(s) > limit {
		return strconv.Quote(s[:limit]) + "…"
	}
	return strconv.Quote(s)
}
