package gates

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
)

// decode reads a registry file. The file is YAML, but written in one fixed way
// so that reading it needs no YAML parser, which would take longer than all
// else that a start does:
//
//	# any number of comments
//	generatedFrom: k8s.io/kubernetes v1.36.2
//	gates:
//	  NAME: {since: "1.28", specs: [SPEC, SPEC], components: [C, C], requires: [NAME], api: GROUP/VERSION, openshift: true}
//
// with one line for each gate, sorted by name, where requires, api and
// openshift may be left out, and a SPEC is
//
//	VERSION alpha|beta|ga|deprecated on|off [locked] [min-compatibility=VERSION]
//
// Anything else is an error that names the line.
func decode(data string) (source string, gates []Gate, err error) {
	d := decoder{versions: map[string]*version.Version{}, components: map[string][]Component{}}
	gates = make([]Gate, 0, strings.Count(data, "\n"))
	n := 0
	for line := range strings.Lines(data) {
		n++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"), line == "gates:":
		case strings.HasPrefix(line, "generatedFrom: "):
			source = strings.TrimPrefix(line, "generatedFrom: ")
		default:
			g, err := d.gate(line)
			if err != nil {
				return "", nil, fmt.Errorf("line %d: %w", n, err)
			}
			if len(gates) > 0 && g.Name <= gates[len(gates)-1].Name {
				return "", nil, fmt.Errorf("line %d: %s is not sorted by name", n, g.Name)
			}
			gates = append(gates, g)
		}
	}
	if source == "" || len(gates) == 0 {
		return "", nil, errors.New("generatedFrom or gates missing")
	}
	return source, gates, nil
}

// decoder shares equal values among the gates of one file.
type decoder struct {
	versions   map[string]*version.Version
	components map[string][]Component
}

func (d *decoder) gate(line string) (Gate, error) {
	name, rest, ok := strings.Cut(line, ": {since: \"")
	name, indented := strings.CutPrefix(name, "  ")
	if !ok || !indented || name == "" {
		return Gate{}, errors.New("not a gate")
	}
	g := Gate{Name: name}
	var specs, components, requires string
	if g.Since, rest, ok = strings.Cut(rest, "\", specs: ["); !ok {
		return Gate{}, errors.New("since or specs missing")
	}
	if specs, rest, ok = strings.Cut(rest, "], components: ["); !ok {
		return Gate{}, errors.New("components missing")
	}
	if components, rest, ok = strings.Cut(rest, "]"); !ok {
		return Gate{}, errors.New("components not ended")
	}
	if after, found := strings.CutPrefix(rest, ", requires: ["); found {
		if requires, rest, ok = strings.Cut(after, "]"); !ok {
			return Gate{}, errors.New("requires not ended")
		}
		g.Requires = strings.Split(requires, ", ")
	}
	if after, found := strings.CutPrefix(rest, ", api: "); found {
		end := strings.IndexAny(after, ",}")
		if end < 0 {
			return Gate{}, errors.New("api not ended")
		}
		g.UnservedAPI, rest = after[:end], after[end:]
	}
	rest, g.OpenShift = strings.CutPrefix(rest, ", openshift: true")
	if rest != "}" {
		return Gate{}, fmt.Errorf("%q instead of a closing brace", rest)
	}
	var err error
	if g.Components, err = d.componentList(components); err != nil {
		return Gate{}, err
	}
	g.Specs, err = d.specs(specs)
	return g, err
}

func (d *decoder) componentList(text string) ([]Component, error) {
	if list, ok := d.components[text]; ok {
		return list, nil
	}
	var list []Component
	for name := range strings.SplitSeq(text, ", ") {
		if !slices.Contains(Components(), Component(name)) {
			return nil, fmt.Errorf("unknown component %q", name)
		}
		list = append(list, Component(name))
	}
	d.components[text] = list
	return list, nil
}

func (d *decoder) specs(text string) (featuregate.VersionedSpecs, error) {
	list := make(featuregate.VersionedSpecs, 0, strings.Count(text, ",")+1)
	for item := range strings.SplitSeq(text, ", ") {
		spec, err := d.spec(item)
		if err != nil {
			return nil, fmt.Errorf("spec %q: %w", item, err)
		}
		list = append(list, spec)
	}
	return list, nil
}

func (d *decoder) spec(text string) (spec featuregate.FeatureSpec, err error) {
	ver, rest, _ := strings.Cut(text, " ")
	if spec.Version, err = d.version(ver); err != nil {
		return spec, err
	}
	stage, rest, _ := strings.Cut(rest, " ")
	switch stage {
	case "alpha":
		spec.PreRelease = featuregate.Alpha
	case "beta":
		spec.PreRelease = featuregate.Beta
	case "ga":
		spec.PreRelease = featuregate.GA
	case "deprecated":
		spec.PreRelease = featuregate.Deprecated
	default:
		return spec, fmt.Errorf("unknown stage %q", stage)
	}
	value, rest, _ := strings.Cut(rest, " ")
	if value != "on" && value != "off" {
		return spec, fmt.Errorf("%q is neither on nor off", value)
	}
	spec.Default = value == "on"
	for word := range strings.FieldsSeq(rest) {
		if ver, ok := strings.CutPrefix(word, "min-compatibility="); ok {
			if spec.MinCompatibilityVersion, err = d.version(ver); err != nil {
				return spec, err
			}
			continue
		}
		if word != "locked" {
			return spec, fmt.Errorf("unknown word %q", word)
		}
		spec.LockToDefault = true
	}
	return spec, nil
}

// version parses "1.36"; version.Parse would do the same with a regular expression.
func (d *decoder) version(text string) (*version.Version, error) {
	if v, ok := d.versions[text]; ok {
		return v, nil
	}
	v, err := parseMinor(text)
	if err == nil {
		d.versions[text] = v
	}
	return v, err
}

// parseMinor parses MAJOR.MINOR.
func parseMinor(text string) (*version.Version, error) {
	major, minor, _ := strings.Cut(text, ".")
	x, err := strconv.ParseUint(major, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", text, err)
	}
	y, err := strconv.ParseUint(minor, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", text, err)
	}
	return version.MajorMinor(uint(x), uint(y)), nil
}
