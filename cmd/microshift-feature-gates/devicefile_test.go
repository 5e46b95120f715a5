package main

import "testing"

// TestAssigned reads texts as systemd.exec(5) says of EnvironmentFile=.
func TestAssigned(t *testing.T) {
	for _, c := range []struct {
		name, text, value string
		line              int
	}{
		{"nothing", "", "", 0},
		{"other variables", "A=1\nXV=2\nVX=3\n", "", 0},
		{"no assignment", "V\nV z-stream\n", "", 0},
		{"plain", "V=z-stream\n", "z-stream", 1},
		{"no newline at the end", "A=1\n\nV=z-stream", "z-stream", 3},
		{"comments", "# V=a\n  ; V=b\n#V=c\nV=z-stream\n;V=d\n", "z-stream", 4},
		{"no comment behind a value", "V=z-stream # ours\n", "z-stream # ours", 1},
		{"the last counts", "V=a\nV=b\nA=c\n", "b", 2},
		{"empty", "V=a\nV=\n", "", 2},
		{"blanks around", " \tV = z-stream \t\n", "z-stream", 1},
		{"blanks inside", "V=a  b\n", "a  b", 1},
		{"carriage return", "A=1\r\nV=z-stream\r\n", "z-stream", 2},
		{"double quotes", "V=\"z-stream\"\n", "z-stream", 1},
		{"single quotes", "V= 'z-stream' \n", "z-stream", 1},
		{"blanks in quotes", "V=' a '\n", " a ", 1},
		{"empty quotes", "V=\"\"\n", "", 1},
		{"quotes that do not match", "V=\"z-stream'\n", "\"z-stream'", 1},
		{"a single quote", "V='\n", "'", 1},
		{"equals sign in the value", "V=a=b\n", "a=b", 1},
		{"another case", "v=a\n", "", 0},
		{"shell", "export V=a\n", "", 0},
	} {
		if value, line := assigned(c.text, "V"); value != c.value || line != c.line {
			t.Errorf("%s: %q in line %d, want %q in line %d", c.name, value, line, c.value, c.line)
		}
	}
}
