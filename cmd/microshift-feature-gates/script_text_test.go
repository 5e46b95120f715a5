package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// jsonCommand compares a part of a JSON text with a JSON value. The path is
// made of .KEY, [INDEX], [KEY=TEXT] (the element that has it) and .# (how many
// elements); "." is the whole text. With !, they must differ or the part must
// be absent.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var want any
	if err := json.Unmarshal([]byte(args[2]), &want); err != nil {
		ts.Fatalf("the wanted value %s is no JSON: %v", args[2], err)
	}
	got, err := part(parseJSON(ts, args[0]), args[1])
	same := err == nil && reflect.DeepEqual(got, want)
	switch text, _ := json.Marshal(got); {
	case neg && same:
		ts.Fatalf("%s is %s, and should not be", args[1], text)
	case !neg && err != nil:
		ts.Fatalf("%s: %v; want %s", args[1], err, args[2])
	case !neg && !same:
		ts.Fatalf("%s is %s, want %s", args[1], text, args[2])
	}
}

func parseJSON(ts *testscript.TestScript, file string) any {
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &doc); err != nil {
		ts.Fatalf("%s is no JSON: %v\n%s", file, err, ts.ReadFile(file))
	}
	return doc
}

var step = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[(\d+)\]|\[([^=\]]+)=([^\]]*)\])`)

// part returns the part of doc at path.
func part(doc any, path string) (any, error) {
	for path = strings.TrimPrefix(path, "."); path != ""; {
		m := step.FindStringSubmatch(path)
		if m == nil {
			return nil, fmt.Errorf("bad path at %q", path)
		}
		path = path[len(m[0]):]
		list, _ := doc.([]any)
		object, _ := doc.(map[string]any)
		ok := false
		switch {
		case m[1] == "#":
			doc, ok = float64(len(list)+len(object)), list != nil || object != nil
		case m[1] != "":
			doc, ok = object[m[1]]
		case m[2] != "":
			i, _ := strconv.Atoi(m[2])
			if ok = i < len(list); ok {
				doc = list[i]
			}
		default:
			i := slices.IndexFunc(list, func(e any) bool {
				o, _ := e.(map[string]any)
				return fmt.Sprint(o[m[3]]) == m[4]
			})
			if ok = i >= 0; ok {
				doc = list[i]
			}
		}
		if !ok {
			return nil, fmt.Errorf("there is no %s", m[0])
		}
	}
	return doc, nil
}

func keysCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keys FILE PATH KEY...")
	}
	got, err := part(parseJSON(ts, args[0]), args[1])
	ts.Check(err)
	object, ok := got.(map[string]any)
	if !ok {
		ts.Fatalf("%s is no object: %v", args[1], got)
	}
	var keys []string
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	want := slices.Sorted(slices.Values(args[2:]))
	if !slices.Equal(keys, want) {
		ts.Fatalf("%s has the keys %v, want %v", args[1], keys, want)
	}
}

func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonlines FILE")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty, want a JSON object on each line", args[0])
	}
	for line := range strings.Lines(text) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("a line of %s is no JSON object: %v\n%s", args[0], err, line)
		}
	}
}

// printableCommand fails where a file has a character that steers a terminal
// or hides, as a name of a gate or a file might.
func printableCommand(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		n := 0
		for line := range strings.Lines(ts.ReadFile(file)) {
			n++
			line = strings.TrimSuffix(line, "\n")
			for _, r := range line {
				if !strconv.IsPrint(r) || r == utf8.RuneError {
					ts.Fatalf("line %d of %s has the raw character %U: %q", n, file, r, line)
				}
			}
		}
	}
}

// onTerminal runs a program with a new terminal as its output. The text is
// left in the file tty.
func onTerminal(ts *testscript.TestScript, args []string) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	defer master.Close()
	ts.Check(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	ts.Check(err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	code, err := strconv.Atoi(args[0])
	ts.Check(err)

	path := args[1]
	for _, dir := range strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(dir + "/" + path); err == nil {
			path = dir + "/" + path
			break
		}
	}
	cmd := exec.Command(path, args[2:]...)
	cmd.Stdout, cmd.Stderr = slave, slave
	cmd.Env = []string{"NO_COLOR=" + ts.Getenv("NO_COLOR"), "TERM=xterm"}
	ts.Check(cmd.Start())
	ts.Check(slave.Close())
	var text bytes.Buffer
	_, _ = io.Copy(&text, master) // ends with EIO, once nobody has the other end
	err = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("tty"), text.Bytes(), 0o644))
	checkCode(ts, err, []int{code})
}
