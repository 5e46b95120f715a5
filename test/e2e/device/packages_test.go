//go:build e2e

package device

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// built is where the RPMs are, once they are built.
var built struct {
	sync.Mutex
	dir string
}

// packages builds the RPMs, and returns where they are.
func packages(t *testing.T) string {
	t.Helper()
	needs(t, "rpmbuild", "rpm", "go", "git")
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		if built.dir = os.Getenv("E2E_RPMS"); built.dir == "" {
			t.Log(do(t, "packaging/rpm/build.sh", output))
			built.dir = filepath.Join(output, "rpm")
		}
	}
	return built.dir
}

// rpmFile returns the package of that name; suffix is its architecture.
func rpmFile(t *testing.T, dir, name, suffix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, name+"-[0-9]*."+suffix+".rpm"))
	check(t, err)
	if len(found) != 1 {
		t.Fatalf("%s has %d packages %s for %s, want 1", dir, len(found), name, suffix)
	}
	return found[0]
}

// TestPackages compares what the packages hold, and with which modes, with
// what they should.
func TestPackages(t *testing.T) {
	dir := packages(t)
	arch := strings.TrimSpace(do(t, "rpm", "--eval", "%_arch"))
	main := rpmFile(t, dir, "microshift-feature-gates", arch)
	list := do(t, "rpm", "-qp", "--qf", `[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILEFLAGS:fflags} %{FILENAMES}\n]`, main)
	for _, want := range []string{
		"-rwxr-xr-x root root  /usr/bin/microshift-feature-gates",
		"-rw-r--r-- root root  /usr/lib/systemd/system/microshift.service.d/10-feature-gates.conf",
		"-rw-r--r-- root root cn /etc/sysconfig/microshift-feature-gates",
		"-rwxr-xr-x root root  /usr/libexec/microshift-feature-gates/upgrade-warning",
		"sos/report/plugins/microshift_feature_gates.py",
		"/usr/share/man/man1/microshift-feature-gates.1",
		"/usr/share/man/man1/microshift-feature-gates-inspect.1",
		"/usr/share/bash-completion/completions/microshift-feature-gates",
		"/usr/share/zsh/site-functions/_microshift-feature-gates",
		"/usr/share/fish/vendor_completions.d/microshift-feature-gates.fish",
		"/LICENSE\n", "/LICENSE.linked\n", "/90-feature-gates.yaml", "/administration.md",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("the package lacks %q; it has\n%s", want, list)
		}
	}
	for line := range strings.Lines(list) {
		if !strings.Contains(line, " root root ") || strings.HasPrefix(line, "-rw-rw") || line[8] == 'w' {
			t.Errorf("others than root can write %s", line)
		}
	}
	greenboot := do(t, "rpm", "-qplv", rpmFile(t, dir, "microshift-feature-gates-greenboot", "noarch"))
	if want := "/etc/greenboot/check/required.d/35_microshift_feature_gates_check.sh"; !strings.Contains(greenboot, want) {
		t.Errorf("the package lacks %s; it has\n%s", want, greenboot)
	}
	controller := do(t, "rpm", "-qplv", rpmFile(t, dir, "microshift-feature-gates-controller", arch))
	for _, want := range []string{
		"/usr/bin/microshift-feature-gates-controller", "/usr/lib/systemd/system/microshift-feature-gates-controller.service",
		"/rbac.yaml", "/usr/share/man/man1/microshift-feature-gates-controller.1",
	} {
		if !strings.Contains(controller, want) || strings.Contains(list, want+"\n") {
			t.Errorf("%s is not in the controller's package alone; that has\n%s", want, controller)
		}
	}
	if want := "/LICENSE.linked\n"; !strings.Contains(controller, want) {
		t.Errorf("the controller's package lacks %q; it has\n%s", want, controller)
	}
	scripts := do(t, "rpm", "-qp", "--triggers", "--scripts", main)
	if !strings.Contains(scripts, "upgrade-warning || :") {
		t.Errorf("the scriptlets are not those that can't fail:\n%s", scripts)
	}
	if requires := do(t, "rpm", "-qp", "--requires", main); strings.Contains(requires, "libc.so") {
		t.Errorf("the binary is not static: %s", requires)
	}
}

// TestRpmlint has rpmlint look at the packages.
func TestRpmlint(t *testing.T) {
	dir := packages(t)
	needs(t, "rpmlint")
	files, err := filepath.Glob(filepath.Join(dir, "*.rpm"))
	check(t, err)
	out := do(t, "rpmlint", append([]string{"-c", "packaging/rpm/rpmlint.toml"}, files...)...)
	if !strings.Contains(out, " 0 errors, 0 warnings") {
		t.Errorf("rpmlint finds\n%s", out)
	}
}

// TestManualPages has groff read every manual page.
func TestManualPages(t *testing.T) {
	needs(t, "groff")
	dir := t.TempDir()
	for _, command := range []string{"microshift-feature-gates", "microshift-feature-gates-controller"} {
		do(t, "go", "build", "-o", dir+"/", "./cmd/"+command)
		do(t, "go", "run", "./packaging/man", filepath.Join(dir, command), dir)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	check(t, err)
	if len(pages) < 10 {
		t.Fatalf("there are %d pages only", len(pages))
	}
	for _, p := range pages {
		if out := do(t, "groff", "-man", "-Tutf8", "-ww", "-z", p); out != "" {
			t.Errorf("%s: %s", filepath.Base(p), out)
		}
	}
}

// standIn builds the package of the stand-in for MicroShift.
func standIn(t *testing.T, dir, version string) string {
	t.Helper()
	files := filepath.Join(repository, "test/e2e/device/testdata")
	do(t, "rpmbuild", "-bb", "--quiet", "--define", "_topdir "+filepath.Join(dir, "standin"), "--define", "_rpmdir "+dir,
		"--define", "standin_version "+version, "--define", "standin_files "+files, filepath.Join(files, "microshift.spec"))
	return filepath.Join(dir, "noarch", "microshift-"+version+"-1.noarch.rpm")
}
