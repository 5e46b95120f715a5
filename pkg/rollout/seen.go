package rollout

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Seen is what the controller of a device saw of the cluster when that last
// changed, for people who look at the device. Nothing is decided by it.
type Seen struct {
	Time       time.Time   `json:"time"` // UTC, to the second
	Phase      Phase       `json:"phase"`
	Generation int64       `json:"generation"` // of the cluster; 0: none
	Nodes      int         `json:"nodes"`
	Waiting    []string    `json:"waiting"`  // see Report, as all lists
	Outdated   []string    `json:"outdated"` // never null
	Unreadable []string    `json:"unreadable"`
	Stale      []string    `json:"stale"`
	Conditions []Condition `json:"conditions"`
}

// SeenName is the name of the file with it, beside the one at StartedPath.
const SeenName = "cluster.json"

// maxSeen bounds the file: four lists of some thousand names.
const maxSeen = 1 << 20

// ReadSeen reads what WriteSeen left. The error is fs.ErrNotExist where there
// is nothing.
func ReadSeen(path string) (Seen, error) {
	data, err := readRegular(path, maxSeen)
	if err != nil {
		return Seen{}, err
	}
	var s Seen
	if err := json.Unmarshal(data, &s); err != nil {
		return Seen{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// WriteSeen makes the directory where need be. The file has mode 0600.
func WriteSeen(path string, s Seen) error {
	for _, list := range []*[]string{&s.Waiting, &s.Outdated, &s.Unreadable, &s.Stale} {
		*list = append([]string{}, *list...)
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return replace(path, append(data, '\n'))
}
