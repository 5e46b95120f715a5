package startup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

const (
	configFile = "etc/microshift/config.yaml"
	lockFile   = "var/lib/microshift/no-upgrade"
	dataFile   = "var/lib/microshift/version"
	failFile   = "var/lib/microshift-backups/prerun_failed.log"

	memoryQoS = "apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [MemoryQoS]}}}\n"
	exempt    = "apiServer: {featureGates: {featureSet: CustomNoUpgrade, specialHandlingSupportExceptionRequired: {enabled: [MemoryQoS]}}}\n"
	locked500 = "customNoUpgrade:\n  disabled: []\n  enabled:\n  - MemoryQoS\nfeatureSet: CustomNoUpgrade\nversion: 5.0.0\n"
)

// device makes a device root of the given files.
func device(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func options(t testing.TB, root, version string, log *bytes.Buffer) startup.Options {
	t.Helper()
	v, err := lock.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	o := startup.DefaultOptions(root, v)
	o.Now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	logger := logrus.New()
	logger.SetFormatter(&logrus.JSONFormatter{})
	logger.SetOutput(log)
	o.Log = logger
	return o
}

// disk returns every file under root with its content, but for failFile.
func disk(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, failFile) {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestOutcome has the rows of the product's lock table: what a start finds,
// and how it ends.
func TestOutcome(t *testing.T) {
	for name, tt := range map[string]struct {
		files   map[string]string
		version string
		policy  lock.Policy
		want    string // "starts", "rejected", or "locked out"
		lock    string // "none", "unchanged", or a piece of its new text
		codes   string // of the diagnostics
	}{
		"no configuration":   {nil, "5.0.0", 0, "starts", "none", ""},
		"no feature set":     {map[string]string{configFile: "dns: {baseDomain: x}\n"}, "5.0.0", 0, "starts", "none", ""},
		"first start":        {map[string]string{configFile: memoryQoS}, "5.0.0", 0, "starts", "version: 5.0.0", ""},
		"restart":            {map[string]string{configFile: memoryQoS, lockFile: locked500}, "5.0.0", 0, "starts", "unchanged", ""},
		"same but suffix":    {map[string]string{configFile: memoryQoS, lockFile: locked500}, "5.0.0~rc.1", 0, "starts", "unchanged", ""},
		"removed":            {map[string]string{lockFile: locked500}, "5.0.0", 0, "locked out", "unchanged", "lock-mismatch"},
		"emptied":            {map[string]string{configFile: "apiServer: {featureGates: {featureSet: ''}}", lockFile: locked500}, "5.0.0", 0, "locked out", "unchanged", "lock-mismatch"},
		"preview to custom":  {map[string]string{configFile: memoryQoS, lockFile: "featureSet: TechPreviewNoUpgrade\nversion: 5.0.0\n"}, "5.0.0", 0, "locked out", "unchanged", "lock-mismatch"},
		"custom to preview":  {map[string]string{configFile: "apiServer: {featureGates: {featureSet: DevPreviewNoUpgrade}}", lockFile: locked500}, "5.0.0", 0, "rejected", "unchanged", "feature-set-locked"},
		"lists changed":      {map[string]string{configFile: strings.Replace(memoryQoS, "MemoryQoS", "KubeletPSI", 1), lockFile: locked500}, "5.0.0", 0, "starts", "KubeletPSI", "lock-changed"},
		"newer patch":        {map[string]string{configFile: memoryQoS, lockFile: locked500}, "5.0.1", 0, "locked out", "unchanged", "lock-mismatch"},
		"newer patch, z":     {map[string]string{configFile: memoryQoS, lockFile: locked500}, "5.0.1", lock.PolicyZStream, "starts", "version: 5.0.1", ""},
		"older":              {map[string]string{configFile: memoryQoS, lockFile: locked500}, "4.23.0", 0, "locked out", "unchanged", "lock-mismatch"},
		"older, z":           {map[string]string{configFile: memoryQoS, lockFile: locked500}, "4.23.0", lock.PolicyZStream, "locked out", "unchanged", "lock-mismatch"},
		"exempt":             {map[string]string{configFile: exempt, lockFile: strings.Replace(locked500, "5.0.0", "4.23.0", 1)}, "5.0.0", 0, "starts", "version: 5.0.0", ""},
		"lock empty":         {map[string]string{configFile: memoryQoS, lockFile: ""}, "5.0.0", 0, "locked out", "unchanged", "lock-unusable"},
		"lock garbage":       {map[string]string{lockFile: "\x00\x00\x00"}, "5.0.0", 0, "locked out", "unchanged", "lock-unusable"},
		"lock in null form":  {map[string]string{configFile: "apiServer: {featureGates: {featureSet: TechPreviewNoUpgrade}}", lockFile: "customNoUpgrade:\n  disabled: null\n  enabled: null\nfeatureSet: TechPreviewNoUpgrade\nversion: 5.0.0\n"}, "5.0.0", 0, "starts", "unchanged", ""},
		"lock missing":       {map[string]string{configFile: memoryQoS, dataFile: `{"version":"4.23.0"}`}, "5.0.0", 0, "starts", "version: 5.0.0", "lock-missing"},
		"lock never was":     {map[string]string{dataFile: `{"version":"4.23.0"}`}, "5.0.0", 0, "starts", "none", ""},
		"wrong":              {map[string]string{configFile: "apiServer: {featureGates: {featureSet: X}}"}, "5.0.0", 0, "rejected", "none", "feature-set-unknown"},
		"wrong and locked":   {map[string]string{configFile: "apiServer: {featureGates: {featureSet: X}}", lockFile: locked500}, "5.0.0", 0, "rejected", "unchanged", "feature-set-unknown"},
		"wrong and unusable": {map[string]string{configFile: "apiServer: {featureGates: {featureSet: X}}", lockFile: ""}, "5.0.0", 0, "rejected", "unchanged", "feature-set-unknown lock-unusable"},
	} {
		t.Run(name, func(t *testing.T) {
			root := device(t, tt.files)
			before := disk(t, root)
			var log bytes.Buffer
			o := options(t, root, tt.version, &log)
			o.Policy = tt.policy
			out, err := startup.Run(context.Background(), o)
			if got := ending(err); got != tt.want {
				t.Errorf("the start %s (%v), want: %s", got, err, tt.want)
			}
			var codes []string
			for _, d := range out.Diagnostics {
				codes = append(codes, d.Code)
			}
			if got := strings.Join(codes, " "); got != tt.codes {
				t.Errorf("diagnostics %q, want %q", got, tt.codes)
			}
			after := disk(t, root)
			checkLock(t, before, after, filepath.Join(root, lockFile), tt.lock)
			if tt.want != "starts" {
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("a refused start changed the disk (-before +after):\n%s", diff)
				}
			}
			_, failErr := os.Stat(filepath.Join(root, failFile))
			if left := failErr == nil; left != (tt.want != "starts") {
				t.Errorf("%s is there: %t, want that only after a refused start", failFile, left)
			}
		})
	}
}

func ending(err error) string {
	refusal := new(startup.Refusal)
	switch {
	case err == nil:
		return "starts"
	case !errors.As(err, &refusal):
		return "fails"
	case refusal.ByLock:
		return "locked out"
	default:
		return "rejected"
	}
}

func checkLock(t *testing.T, before, after map[string]string, path, want string) {
	t.Helper()
	text, there := after[path]
	switch {
	case want == "none" && there:
		t.Errorf("a lock was written: %s", text)
	case want == "unchanged" && text != before[path]:
		t.Errorf("the lock was changed to\n%s\nfrom\n%s", text, before[path])
	case want != "none" && want != "unchanged" && !strings.Contains(text, want):
		t.Errorf("the lock is\n%s\nwant %q in it", text, want)
	}
}

// TestOrder checks that a start is logged in the order that people look for it.
func TestOrder(t *testing.T) {
	root := device(t, map[string]string{
		configFile:                        "apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [MemoryQos, MemoryQoS]}}}\n",
		"etc/microshift/config.d/10.yaml": "",
	})
	var log bytes.Buffer
	if _, err := startup.Run(context.Background(), options(t, root, "5.0.0", &log)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, key := range []string{"microshift", "file", "featureSet", "gate", "component", "lock", "change", "code"} {
			if v, ok := entry[key]; ok {
				got = append(got, fmt.Sprint(key, "=", v))
			}
		}
	}
	want := []string{
		"microshift=5.0.0",
		"file=/etc/microshift/config.yaml", "file=/etc/microshift/config.d/10.yaml",
		"featureSet=CustomNoUpgrade", "gate=MemoryQos", "gate=MemoryQoS",
		"component=kube-apiserver", "component=kube-controller-manager", "component=kube-scheduler", "component=kubelet",
		"lock=/var/lib/microshift/no-upgrade", "change=locked",
		"code=gate-unknown",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s\n%s", diff, log.String())
	}
	for _, sentence := range []string{"never for production", "upgrades are now blocked"} {
		if !strings.Contains(log.String(), sentence) {
			t.Errorf("the log lacks %q", sentence)
		}
	}
}

// TestNothingElseIsLogged checks that the rest of the configuration, which may
// hold secrets, never reaches the log.
func TestNothingElseIsLogged(t *testing.T) {
	for name, text := range map[string]string{
		"elsewhere":      "secret: hunter2\n" + memoryQoS,
		"wrong type":     "apiServer: hunter2\n",
		"syntax":         "secret: 'hunter2\n",
		"unclosed":       "secret: [hunter2\n",
		"duplicate":      "secret: hunter2\nsecret: hunter2\n",
		"not a mapping":  "hunter2\n",
		"kubelet":        "kubelet: {secret: hunter2, featureGates: {MemoryQoS: true}}\n",
		"two documents":  "a: hunter2\n---\nb: hunter2\n",
		"tab":            "a:\n\thunter2: 1\n",
		"control":        "a: hunter2\x01\n",
		"apiServer list": "apiServer: [hunter2]\n",
	} {
		t.Run(name, func(t *testing.T) {
			root := device(t, map[string]string{configFile: text})
			var log bytes.Buffer
			_, err := startup.Run(context.Background(), options(t, root, "5.0.0", &log))
			failure, _ := os.ReadFile(filepath.Join(root, failFile))
			if all := log.String() + string(failure) + fmt.Sprint(err); strings.Contains(all, "hunter2") {
				t.Errorf("the secret is in\n%s", all)
			}
		})
	}
}

// TestCancelled checks that a start that is told to stop writes no lock.
// TestManyProblems wants the log of a start to stay short, errors before
// warnings, with the reason at its end.
func TestManyProblems(t *testing.T) {
	files := map[string]string{}
	keys := ""
	for i := range 203 {
		files[fmt.Sprintf("etc/microshift/config.d/%03d.yaml", i)] = ""
		files[fmt.Sprintf("etc/microshift/config.d/%03d.yml", i)] = ""
		keys += fmt.Sprintf("k%d: 1, ", i)
	}
	for _, tt := range []struct {
		name, section string
		log           map[string]int // number of lines by level and code
		more          []string       // the lines that stand for others
		failure       string         // the last line of the reason that is left
	}{
		{"warnings", "", map[string]int{"warning not-read": 200}, []string{"read 4 more configuration files", "and 3 more problems; microshift-feature-gates validate -o json lists all"}, ""},
		{"both", "{k1: 1, k2: 2}", map[string]int{"error unknown-key": 2, "warning not-read": 198},
			[]string{"read 4 more configuration files", "and 5 more problems; microshift-feature-gates validate -o json lists all"}, "  the keys here are featureSet"},
		{"errors", "{" + keys + "}", map[string]int{"error unknown-key": 200},
			[]string{"read 4 more configuration files", "and 206 more problems; microshift-feature-gates validate -o json lists all"}, "and 3 more errors"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files[configFile] = "apiServer: {featureGates: " + tt.section + "}\n"
			root := device(t, files)
			var log bytes.Buffer
			_, err := startup.Run(context.Background(), options(t, root, "5.0.0", &log))
			got := map[string]int{}
			var more []string
			var last string
			for line := range strings.Lines(log.String()) {
				var e struct{ Level, Code, Msg string }
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				if last = e.Msg; e.Code != "" {
					got[e.Level+" "+e.Code]++
				} else if strings.Contains(e.Msg, " more ") && !strings.HasPrefix(e.Msg, "MicroShift") {
					more = append(more, e.Msg)
				}
			}
			if diff := cmp.Diff(tt.log, got) + cmp.Diff(tt.more, more); diff != "" {
				t.Errorf("logged problems (-want +got):\n%s", diff)
			}
			if (err != nil) != strings.HasPrefix(last, "MicroShift does not start: ") {
				t.Errorf("the error is %v, and the last line %q", err, last)
			}
			left, _ := os.ReadFile(filepath.Join(root, failFile))
			lines := strings.Split(strings.TrimSpace(string(left)), "\n")
			if !strings.HasPrefix(lines[len(lines)-1], tt.failure) || tt.failure == "" && len(left) > 0 {
				t.Errorf("the reason that is left ends in %q, want %q", lines[len(lines)-1], tt.failure)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	root := device(t, map[string]string{configFile: memoryQoS})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var log bytes.Buffer
	if _, err := startup.Run(ctx, options(t, root, "5.0.0", &log)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(filepath.Join(root, lockFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is there or can't be seen (%v), want none", err)
	}
}

// TestAtOnce starts many times at once on a fresh device: all start, and the
// lock is that of one of them.
func TestAtOnce(t *testing.T) {
	root := device(t, map[string]string{configFile: memoryQoS})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			var log bytes.Buffer
			if _, err := startup.Run(context.Background(), options(t, root, "5.0.0", &log)); err != nil {
				t.Errorf("a start fails: %v", err)
			}
		})
	}
	wg.Wait()
	l, err := lock.Read(filepath.Join(root, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.History) != 1 {
		t.Errorf("the history has %d entries, want that of the first start alone", len(l.History))
	}
	entries, _ := os.ReadDir(filepath.Join(root, "var/lib/microshift"))
	if len(entries) != 1 {
		t.Errorf("the data directory has %v, want the lock alone", entries)
	}
}

// TestLookWritesNothing checks that looking leaves the device as it is.
func TestLookWritesNothing(t *testing.T) {
	root := device(t, map[string]string{configFile: memoryQoS})
	before := disk(t, root)
	var log bytes.Buffer
	out, err := startup.Look(options(t, root, "5.0.0", &log))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Lock.String(); got != "absent" {
		t.Errorf("the lock is %s, want absent", got)
	}
	if diff := cmp.Diff(before, disk(t, root)); diff != "" {
		t.Errorf("Look changed the disk (-before +after):\n%s", diff)
	}
	if log.Len() > 0 {
		t.Errorf("Look logged %s", log.String())
	}
}
