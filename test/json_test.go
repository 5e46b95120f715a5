package test

import (
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const jsonDoc = "docs/json.md"

// TestJSONNames compares the names in the tables of docs/json.md with what the
// commands print on a few devices that have a bit of everything.
func TestJSONNames(t *testing.T) {
	docs := documents(t)
	i := slices.IndexFunc(docs, func(d document) bool { return d.name == jsonDoc })
	tables := parseTables(docs[i])
	for _, run := range jsonRuns(t, build(t)) {
		check := jsonChecker{t: t, tables: tables, command: strings.Join(run.args, " ")}
		check.value(run.section, "", run.value)
	}
	for _, section := range slices.Sorted(maps.Keys(tables)) {
		for _, row := range tables[section] {
			if !row.seen {
				t.Errorf("%s: %s: no command has printed %s", jsonDoc, section, row.name)
			}
		}
	}
}

// jsonRow is one name in a table.
type jsonRow struct {
	name     string
	pattern  *regexp.Regexp
	optional bool
	see      string // the section that says what is in it; empty where it is no object
	seen     bool
}

var (
	jsonName = regexp.MustCompile("(\\*?)`([^`]+)`")
	jsonSee  = regexp.MustCompile(`see \[[^\]]*\]\(#([a-z-]+)\)`)
)

// parseTables returns the rows of the tables by section.
func parseTables(d document) map[string][]*jsonRow {
	tables := map[string][]*jsonRow{}
	section := ""
	for _, line := range d.lines {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 2 || section == "" {
			continue
		}
		see := ""
		if m := jsonSee.FindStringSubmatch(line); m != nil {
			see = m[1]
		}
		for _, m := range jsonName.FindAllStringSubmatch(cells[0], -1) {
			expr := regexp.QuoteMeta(m[2])
			expr = regexp.MustCompile(`\b[A-Z]+\b`).ReplaceAllString(expr, `[^.\[\]]+`)
			row := &jsonRow{name: m[2], pattern: regexp.MustCompile("^" + expr + "$"), optional: m[1] != "", see: see}
			if strings.HasSuffix(m[2], ".enabled") { // of an origin in the same row
				row.see = ""
			}
			tables[section] = append(tables[section], row)
		}
	}
	return tables
}

type jsonChecker struct {
	t       *testing.T
	tables  map[string][]*jsonRow
	command string
}

// value checks a value at a path of a section.
func (c *jsonChecker) value(section, path string, v any) {
	if path != "" {
		for _, row := range c.tables[section] {
			if row.pattern.MatchString(path) {
				row.seen = true
				if row.see != "" {
					c.value(row.see, "", v)
				} else if isObject(v) {
					c.t.Errorf("%s: %s: %s is an object, and the table does not say where to see what is in it", c.command, section, path)
				}
				return
			}
		}
	}
	switch v := v.(type) {
	case nil:
		c.t.Errorf("%s: %s: %s is null", c.command, section, path)
	case []any:
		for _, item := range v {
			c.value(section, path+"[]", item)
		}
		if len(v) == 0 && !c.empty(section, path+"[]") {
			c.t.Errorf("%s: %s has no list %s", c.command, section, path)
		}
	case map[string]any:
		for key, value := range v {
			c.value(section, strings.TrimPrefix(path+"."+key, "."), value)
		}
		c.complete(section, path, v)
	default:
		c.t.Errorf("%s: %s has no name %s", c.command, section, path)
	}
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// empty reports whether the table has a list. It counts as printed even
// though it has no items.
func (c *jsonChecker) empty(section, path string) bool {
	found := false
	for _, row := range c.tables[section] {
		if strings.HasPrefix(row.name, path) {
			row.seen, found = true, true
		}
	}
	return found
}

// complete reports names that the table has as always there, directly below
// path, and the object has not.
func (c *jsonChecker) complete(section, path string, object map[string]any) {
	prefix := path + "."
	if path == "" {
		prefix = ""
	}
	for _, row := range c.tables[section] {
		rest, ok := strings.CutPrefix(row.name, prefix)
		key, _, _ := strings.Cut(rest, ".")
		key = strings.TrimSuffix(key, "[]")
		if !ok || row.optional || key == "" || strings.ToUpper(key) == key {
			continue
		}
		if _, has := object[key]; !has {
			c.t.Errorf("%s: %s lacks %s, which is not marked as one that may be absent", c.command, section, row.name)
		}
	}
}

type jsonRun struct {
	args    []string
	section string
	value   any
}

// jsonRuns returns what the commands print on several devices.
func jsonRuns(t *testing.T, binary string) []jsonRun {
	custom := newDevice(t, binary, "5.0.0")
	custom.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade}}\n")
	custom.write("/etc/microshift/config.d/10.yaml", `apiServer:
  featureGates:
    featureSet: CustomNoUpgrade
    customNoUpgrade: {enabled: [MemoryQoS, NoSuchGate], disabled: [ComponentFlagz]}
    specialHandlingSupportExceptionRequired: {enabled: [APIResponseCompression], disabled: [EventedPLEG]}
kubelet: {featureGates: {MemoryQoS: false}}
`)
	custom.write("/var/lib/microshift/no-upgrade", `customNoUpgrade: {enabled: [ClientsAllowCBOR, MemoryQoS], disabled: [ClientsPreferCBOR]}
featureSet: CustomNoUpgrade
version: 5.0.0
`)
	custom.run([]string{"$ microshift-feature-gates prestart"})
	preview := newDevice(t, binary, "4.22.0")
	preview.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {featureSet: DevPreviewNoUpgrade}}\n")
	wrong := newDevice(t, binary, "4.22.0")
	wrong.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {disabled: [UserNamespacesSupport]}}}\n")
	wrong.write("/var/lib/microshift/no-upgrade", "")

	var runs []jsonRun
	for _, d := range []*device{custom, preview, wrong} {
		for _, r := range []jsonRun{
			{section: "validate", args: []string{"validate"}},
			{section: "show", args: []string{"show"}},
			{section: "flags", args: []string{"flags", "kubelet"}},
			{section: "lock", args: []string{"lock"}},
			{section: "gates", args: []string{"gates"}},
			{section: "explain", args: []string{"explain", "MemoryQoS"}},
			{section: "explain", args: []string{"explain", "UserNamespacesSupport"}},
			{section: "explain", args: []string{"explain", "UnknownVersionInteroperabilityProxy"}},
			{section: "feature-sets", args: []string{"feature-sets"}},
			{section: "feature-sets SET", args: []string{"feature-sets", "TechPreviewNoUpgrade"}},
			{section: "feature-sets SET --against SET", args: []string{"feature-sets", "TechPreviewNoUpgrade", "--against", "DevPreviewNoUpgrade"}},
			{section: "upgrade-check", args: []string{"upgrade-check", "5.0.1"}},
			{section: "version", args: []string{"version"}},
		} {
			version := "5.0.0"
			if d != custom {
				version = "4.22.0"
			}
			cmd := exec.Command(binary, append([]string{"--root", d.root, "--microshift-version", version, "-o", "json"}, r.args...)...)
			out, _ := cmd.Output() // a device may be refused, and flags prints nothing then
			if len(out) == 0 && r.section == "flags" {
				continue
			}
			if err := json.Unmarshal(out, &r.value); err != nil {
				t.Errorf("%v: %v\n%s", r.args, err, out)
				continue
			}
			runs = append(runs, r)
		}
	}
	return runs
}
