package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
)

// maxBytes bounds a stored State or File. A ConfigMap holds up to 1 MiB; a set
// of guarded gates is a few hundred bytes.
const maxBytes = 64 << 10

// record is the stored form of a State and of a File.
type record struct {
	Generation int64      `json:"generation"`
	Enabled    []string   `json:"enabled"`
	Disabled   []string   `json:"disabled"`
	Spec       *Version   `json:"specMinimum,omitempty"` // State only
	Status     *Version   `json:"statusMinimum,omitempty"`
	Floor      *int64     `json:"floor,omitempty"`
	Minimum    *Version   `json:"minimum,omitempty"` // File only
	Time       *time.Time `json:"time,omitempty"`
}

// ParseState reads what State.Marshal writes. Unknown fields are tolerated;
// more than 64 KiB, a field twice, missing or of the wrong type, a generation
// outside 1 to MaxGeneration, a name that no gate can have, a gate twice, and
// a floor above the generation are errors. A state that can't be
// read must not be taken for none: observe it as not Synced.
func ParseState(data []byte) (State, error) {
	r, err := parse(data, "generation", "enabled", "disabled", "specMinimum", "statusMinimum")
	if err != nil {
		return State{}, fmt.Errorf("feature gate rollout state: %w", err)
	}
	s := State{Generation: r.Generation, Spec: *r.Spec, Status: *r.Status, Enabled: r.Enabled, Disabled: r.Disabled}
	if r.Floor != nil {
		s.Floor = *r.Floor
	}
	if s.Floor < 0 || s.Floor > s.Generation {
		return State{}, fmt.Errorf("feature gate rollout state: floor %d is not from 0 to the generation, %d", s.Floor, s.Generation)
	}
	return s, nil
}

// Marshal returns s as JSON, the same bytes for equal states. It fails for what
// ParseState refuses.
func (s State) Marshal() ([]byte, error) {
	data, err := record{
		Generation: s.Generation, Enabled: s.Enabled, Disabled: s.Disabled,
		Spec: &s.Spec, Status: &s.Status, Floor: &s.Floor,
	}.marshal()
	if err != nil {
		return nil, err
	}
	if _, err := ParseState(data); err != nil {
		return nil, err
	}
	return data, nil
}

// marshal writes r with a set that is never null.
func (r record) marshal() ([]byte, error) {
	r.Enabled = append([]string{}, r.Enabled...)
	r.Disabled = append([]string{}, r.Disabled...)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// parse reads a record that has all the required fields, and sorts its set.
func parse(data []byte, required ...string) (record, error) {
	fields, err := object(data)
	if err != nil {
		return record{}, err
	}
	for _, name := range required {
		if raw, ok := fields[name]; !ok || string(raw) == "null" {
			return record{}, fmt.Errorf("field %q is missing", name)
		}
	}
	var r record
	for name, dst := range map[string]any{
		"generation": &r.Generation, "enabled": &r.Enabled, "disabled": &r.Disabled, "specMinimum": &r.Spec,
		"statusMinimum": &r.Status, "floor": &r.Floor, "minimum": &r.Minimum, "time": &r.Time,
	} {
		if raw, ok := fields[name]; ok {
			if err := json.Unmarshal(raw, dst); err != nil {
				return record{}, fmt.Errorf("field %q: %w", name, err)
			}
		}
	}
	slices.Sort(r.Enabled)
	slices.Sort(r.Disabled)
	return r, r.check()
}

// gateName is what openshift/api, config/v1/types_feature.go, takes for a gate.
var gateName = regexp.MustCompile(`^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+\.?$`)

// check refuses a record that can't be one generation and its one set.
func (r record) check() error {
	if r.Generation < 1 || r.Generation > MaxGeneration {
		return fmt.Errorf("generation %d is not from 1 to %d", r.Generation, int64(MaxGeneration))
	}
	seen := map[string]bool{}
	for _, gate := range slices.Concat(r.Enabled, r.Disabled) {
		if !gateName.MatchString(gate) {
			return fmt.Errorf("%.40q can't be a feature gate", gate)
		}
		if seen[gate] {
			return fmt.Errorf("feature gate %q is there twice", gate)
		}
		seen[gate] = true
	}
	return nil
}

// object reads one JSON object by its exact field names. Other than
// encoding/json it refuses a name that is there twice and does not match
// names without regard to case: which of two values counts must not be guessed.
func object(data []byte) (map[string]json.RawMessage, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes are more than %d", len(data), maxBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	} else if t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	fields := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // a key is a string, or Token has failed
		if _, ok := fields[name]; ok {
			return nil, fmt.Errorf("field %.40q is there twice", name)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		fields[name] = raw
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return fields, nil
}
