package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
)

const command = "microshift-feature-gates"

func TestMain(m *testing.M) {
	syscall.Umask(0o022) // files that others can write are a warning
	testscript.Main(m, map[string]func(){
		command:             main,
		"without-overrides": withoutOverrides,
	})
}

// TestScript runs the scripts of testdata, each on a device whose root is the
// script's directory. Besides testscript's own commands there are:
//
//	exits CODE PROGRAM ARGS...     run a program; it must end with CODE
//	on VERSION exits CODE ARGS...  the same for our command on the script's device
//	on VERSION starts CODE ARGS... the same with the environment that systemd gives to a service
//	on VERSION tty CODE ARGS...    the same on a terminal, whose text is in the file tty
//	[!] json FILE PATH VALUE       compare a part of a JSON text (see jsonCommand)
//	keys FILE PATH KEY...          compare the keys of a JSON object, whatever their order
//	jsonlines FILE                 every line must be a JSON object
//	printable FILE...              no raw control, bidi or invisible character
//	snapshot; unchanged            remember etc, var and run; compare with that
//	write FILE TEXT                write a file; both may have Go's escapes
//	repeat FILE N TEXT             write a file that holds the text N times
//	perm MODE FILE                 compare the permissions of a file
//
// The variable RLO holds the character U+202E. FILE may be stdout or stderr, and CODE several codes with commas between.
// Conditions: [kubernetes:1.NN] is embedded, [overrides] says whether reading
// what permissions forbid can be given up.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"on":        onDevice,
			"json":      jsonCommand,
			"keys":      keysCommand,
			"jsonlines": jsonLines,
			"printable": printableCommand,
			"snapshot":  snapshot,
			"unchanged": unchanged,
			"write":     write,
			"repeat":    repeat,
			"perm":      perm,
		},
		Condition: func(cond string) (bool, error) {
			kube, ok := strings.CutPrefix(cond, "kubernetes:")
			switch {
			case ok:
				return embedded(kube), nil
			case cond == "overrides":
				return canDropOverrides(), nil
			}
			return false, errors.New("unknown condition")
		},
		Setup: func(env *testscript.Env) error {
			env.Values[snapshotKey] = &disk{}
			env.Setenv("RLO", "\u202e") // turns the reading direction
			return nil
		},
	})
}

func embedded(kube string) bool {
	for _, v := range gates.Versions() {
		if v.String() == kube {
			return true
		}
	}
	return false
}

// exits runs a program and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	var want []int
	for code := range strings.SplitSeq(args[0], ",") {
		n, err := strconv.Atoi(code)
		ts.Check(err)
		want = append(want, n)
	}
	err := ts.Exec(args[1], args[2:]...)
	checkCode(ts, err, want)
}

func checkCode(ts *testscript.TestScript, err error, want []int) {
	code := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if !slices.Contains(want, code) {
		ts.Fatalf("ended with exit code %d, want %v", code, want)
	}
}

// onDevice runs our command on the device of the script.
func onDevice(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: on VERSION exits|starts|tty CODE ARGS...")
	}
	line := append([]string{args[2], command, "--root", ts.Getenv("WORK"), "--microshift-version", args[0]}, args[3:]...)
	switch args[1] {
	case "exits":
		exits(ts, false, line)
	case "starts":
		exits(ts, false, append([]string{line[0], "sh", "-c", `SYSTEMD_EXEC_PID=$$ exec "$@"`, "sh"}, line[1:]...))
	case "tty":
		onTerminal(ts, line)
	default:
		ts.Fatalf("on VERSION %s: want exits, starts or tty", args[1])
	}
}

// The capabilities by which root may read and write what permissions forbid
// (capabilities(7)).
const (
	capDACOverride   = 1
	capDACReadSearch = 2
)

// dropOverrides takes these capabilities from the programs that this thread
// executes. Without root there are none to take.
func dropOverrides() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return errors.Join(
		unix.Prctl(unix.PR_CAPBSET_DROP, capDACOverride, 0, 0, 0),
		unix.Prctl(unix.PR_CAPBSET_DROP, capDACReadSearch, 0, 0, 0),
	)
}

func canDropOverrides() bool {
	ok := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked, so the thread ends with this
		ok <- dropOverrides() == nil
	}()
	return <-ok
}

// withoutOverrides executes the program of its arguments as a user whom
// permissions bind.
func withoutOverrides() {
	runtime.LockOSThread()
	err := dropOverrides()
	path := ""
	if err == nil {
		path, err = exec.LookPath(os.Args[1])
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	println(filepath.Base(os.Args[0]), err.Error())
	os.Exit(125)
}
