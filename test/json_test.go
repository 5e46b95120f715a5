package test

import (
	"encoding/json"
	"maps"
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
	null     bool   // null where there is nothing
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
			row := &jsonRow{name: m[2], pattern: regexp.MustCompile("^" + expr + "$"), optional: m[1] != "",
				null: strings.Contains(line, "`null`"), see: see}
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
				if v == nil && row.null {
					return
				}
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
	var runs []jsonRun
	for _, d := range jsonDevices(t, binary) {
		for _, line := range []string{
			"validate", "show", "flags kubelet", "lock", "gates", "feature-sets",
			"explain MemoryQoS", "explain UserNamespacesSupport", "explain UnknownVersionInteroperabilityProxy", "explain CoordinatedLeaderElection",
			"feature-sets TechPreviewNoUpgrade", "feature-sets TechPreviewNoUpgrade --against DevPreviewNoUpgrade",
			"feature-sets TechPreviewNoUpgrade --microshift-version 4.22.0", // leaves a gate out
			"upgrade-check 5.0.1", "version", "inspect . --root / --microshift-version=",
		} {
			r := jsonRun{args: strings.Fields(line)}
			r.section = r.args[0]
			if r.section == "feature-sets" { // one command, three forms
				r.section = strings.NewReplacer("TechPreviewNoUpgrade", "SET", "DevPreviewNoUpgrade", "SET", " --microshift-version 4.22.0", "").Replace(line)
			}
			out := strings.Join(d.run([]string{"$ microshift-feature-gates -o json 2>/dev/null " + line}), "\n")
			if out == "" && r.section == "flags" { // none on a device that would not start
				continue
			}
			if err := json.Unmarshal([]byte(out), &r.value); err != nil {
				t.Errorf("%v: %v\n%s", r.args, err, out)
				continue
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// jsonDevices returns devices that together have a bit of everything.
func jsonDevices(t *testing.T, binary string) []*device {
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
	custom.write("/var/lib/microshift/version", `{"version":"5.0.0"}`)
	journal := "sos_commands/microshift/journalctl_--no-pager_--unit_microshift"
	custom.mkdir("/sos_commands/microshift")
	for _, set := range []string{"CustomNoUpgrade", "None"} { // one start that is let through, one that is not
		custom.run([]string{"$ sed -i s/featureSet:.*/featureSet:\\ " + set + "/ /etc/microshift/config.d/10.yaml"})
		custom.run([]string{"$ microshift-feature-gates prestart 2>&1 | sed 's/^/Aug 01 12:00:00 device microshift-feature-gates[1]: /' >> " + journal})
		custom.run([]string{"$ echo 'Aug 01 12:00:00 device systemd[1]: microshift.service: Start request repeated too quickly.' >> " + journal})
	}
	custom.run([]string{"$ sed -i 's/featureSet:.*/featureSet: CustomNoUpgrade/' /etc/microshift/config.d/10.yaml"})

	preview := newDevice(t, binary, "4.22.0")
	preview.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {featureSet: DevPreviewNoUpgrade}}\n")

	wrong := newDevice(t, binary, "4.22.0")
	wrong.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {disabled: [UserNamespacesSupport]}}}\n")
	wrong.write("/var/lib/microshift/no-upgrade", "")

	several := newDevice(t, binary, "4.22.0")
	several.write("/etc/microshift/config.yaml", "apiServer: {featureGates: {minimumKubeletVersion: 1.34.0}}\n")
	several.write("/var/lib/microshift/feature-gates-rollout.json", `{"generation":1,"enabled":[],"disabled":["ProcMountType"],"minimum":"1.34.0"}`)
	several.run([]string{"$ sh -c 'SYSTEMD_EXEC_PID=$$ exec microshift-feature-gates prestart'"})
	several.write("/var/lib/microshift/feature-gates-rollout.json", `{"generation":`)
	several.write("/run/microshift-feature-gates/cluster.json", `{"time":"2026-08-01T12:00:00Z","phase":"waiting","generation":1,"nodes":2,
"waiting":["a"],"outdated":["a"],"unreadable":[],"stale":[],"conditions":[{"type":"Progressing","status":true,"reason":"Waiting","message":"for a"}]}`)
	return []*device{custom, preview, wrong, several}
}
