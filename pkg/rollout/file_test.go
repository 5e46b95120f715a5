package rollout

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const wholeFile = `{
  "generation": 7,
  "enabled": [
    "Y"
  ],
  "disabled": [
    "X"
  ],
  "minimum": "1.30.0",
  "time": "2026-08-01T12:00:00Z"
}
`

func TestFile(t *testing.T) {
	want := File{7, []string{"Y"}, []string{"X"}, V(1, 30, 0), time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	got, err := ParseFile([]byte(wholeFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameVersion); diff != "" {
		t.Error(diff)
	}
	data, err := got.Marshal()
	if err != nil || string(data) != wholeFile {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := (File{}).Marshal(); err == nil {
		t.Error("no file was marshalled")
	}
}

func TestParseFile(t *testing.T) {
	for _, tt := range []struct{ name, file, err string }{
		{"unknown fields", `{"generation":1,"enabled":[],"disabled":[],"minimum":"","x":{"y":[1]},"Generation":9}`, ""},
		{"another order, no time", `{"minimum":"1.30.0","disabled":["B","A"],"enabled":["C"],"generation":9007199254740991}`, ""},
		{"empty", ``, "not a JSON object"},
		{"zeros", "\x00\x00\x00", "not a JSON object"},
		{"null", `null`, "not a JSON object"},
		{"list", `[]`, "not a JSON object"},
		{"cut off", wholeFile[:len(wholeFile)-3], "EOF"},
		{"cut off early", wholeFile[:20], "EOF"},
		{"two documents", wholeFile + wholeFile, "something follows"},
		{"field twice", `{"generation":1,"generation":2,"enabled":[],"disabled":[],"minimum":""}`, `"generation" is there twice`},
		{"wrong case", `{"Generation":1,"enabled":[],"disabled":[],"minimum":""}`, `"generation" is missing`},
		{"null minimum", `{"generation":1,"enabled":[],"disabled":[],"minimum": null }`, `"minimum" is missing`},
		{"no set", `{"generation":1,"minimum":""}`, `"enabled" is missing`},
		{"generation 0", `{"generation":0,"enabled":[],"disabled":[],"minimum":""}`, "generation 0"},
		{"generation -1", `{"generation":-1,"enabled":[],"disabled":[],"minimum":""}`, "generation -1"},
		{"generation too high", `{"generation":9007199254740992,"enabled":[],"disabled":[],"minimum":""}`, "9007199254740992"},
		{"generation overflows", `{"generation":1e99,"enabled":[],"disabled":[],"minimum":""}`, `"generation"`},
		{"generation a string", `{"generation":"1","enabled":[],"disabled":[],"minimum":""}`, `"generation"`},
		{"minimum bogus", `{"generation":1,"enabled":[],"disabled":[],"minimum":"v1.30"}`, "v1.30"},
		{"minimum a number", `{"generation":1,"enabled":[],"disabled":[],"minimum":1.30}`, `"minimum"`},
		{"on and off", `{"generation":1,"enabled":["A"],"disabled":["A"],"minimum":"1.30.0"}`, `"A" is there twice`},
		{"on twice", `{"generation":1,"enabled":["A","A"],"disabled":[],"minimum":"1.30.0"}`, `"A" is there twice`},
		{"on without a minimum", `{"generation":1,"enabled":["A"],"disabled":[],"minimum":""}`, "without a minimum"},
		{"name null", `{"generation":1,"enabled":[null],"disabled":[],"minimum":"1.30.0"}`, `""`},
		{"name with a value", `{"generation":1,"enabled":["A=true,B"],"disabled":[],"minimum":"1.30.0"}`, "A=true,B"},
		{"name of bad UTF-8", "{\"generation\":1,\"enabled\":[\"A\xff\"],\"disabled\":[],\"minimum\":\"1.30.0\"}", "can't be a feature gate"},
		{"time bogus", `{"generation":1,"enabled":[],"disabled":[],"minimum":"","time":"yesterday"}`, `"time"`},
		{"time out of range", `{"generation":1,"enabled":[],"disabled":[],"minimum":"","time":"0000-01-01T00:00:00+01:00"}`, "year -1"},
		{"too big", `{"x":"` + strings.Repeat("x", 64<<10) + `"}`, "more than 65536"},
		{"too deep", `{"x":` + strings.Repeat("[", 60<<10), "depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ParseFile([]byte(tt.file))
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("%v, want %s", err, tt.err)
			case err != nil && f.Generation != 0:
				t.Errorf("%+v with an error", f)
			}
		})
	}
}

func TestParseState(t *testing.T) {
	s := State{Generation: 3, Spec: V(1, 30, 0), Status: V(1, 31, 0), Enabled: []string{"A"}, Floor: 2}
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseState(data); err != nil || !got.Equal(s) {
		t.Errorf("%+v, %v", got, err)
	}
	for old, bad := range map[string]string{
		`"floor": 2`:                `"floor": 4`,
		`"generation": 3`:           `"generation": 0`,
		`"specMinimum": "1.30.0"`:   `"specMinimum": "1.30"`,
		`"statusMinimum"`:           `"status"`,
		`"disabled": []`:            `"disabled": ["A"]`,
		`"statusMinimum": "1.31.0"`: `"statusMinimum": null`,
	} {
		edited := strings.Replace(string(data), old, bad, 1)
		if _, err := ParseState([]byte(edited)); err == nil || edited == string(data) {
			t.Errorf("accepted, or not an edit: %s", edited)
		}
	}
	for _, s := range []State{{}, {Generation: 1, Floor: 2}, {Generation: 1, Status: V(1, 1000, 100)}} {
		if _, err := s.Marshal(); err == nil {
			t.Errorf("marshalled: %+v", s)
		}
	}
}

func TestAdvance(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 5, time.FixedZone("", 3600))
	f := File{7, []string{"Y"}, []string{"X"}, V(1, 30, 0), now.Add(-time.Hour)}
	for _, tt := range []struct {
		name  string
		state State
		write bool
		err   error
	}{
		{"no ConfigMap", State{}, false, nil},
		{"older", State{Generation: 6, Status: V(1, 30, 0), Enabled: []string{"Z"}}, false, nil},
		{"the same", State{Generation: 7, Status: V(1, 30, 0), Spec: V(1, 36, 0), Floor: 1, Enabled: f.Enabled, Disabled: f.Disabled}, false, nil},
		{"another set", State{Generation: 7, Status: V(1, 30, 0), Disabled: f.Disabled}, false, ErrTwoSets},
		{"minimum raised", State{Generation: 7, Status: V(1, 31, 0), Enabled: f.Enabled, Disabled: f.Disabled}, true, nil},
		{"newer", State{Generation: 8, Status: V(1, 30, 0), Disabled: []string{"X", "Y"}}, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, write, err := f.Advance(tt.state, 0, now)
			if write != tt.write || !errors.Is(err, tt.err) {
				t.Fatalf("write %v, %v", write, err)
			}
			want := f
			if write {
				want = File{tt.state.Generation, tt.state.Enabled, tt.state.Disabled, tt.state.Status, now.UTC().Truncate(time.Second)}
			}
			if diff := cmp.Diff(want, got, sameVersion); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got, write, err := (File{}).Advance(State{Generation: 1}, 1, now); !write || err != nil || got.Generation != 1 {
		t.Errorf("no file: %+v, %v, %v", got, write, err)
	}
	if got, write, err := (File{}).Advance(State{Generation: 6}, 7, now); write || err != nil || got.Generation != 0 {
		t.Errorf("no file, and the state is from the past: %+v, %v, %v", got, write, err)
	}
}

func TestApply(t *testing.T) {
	guards := []Guard{
		{"X", V(1, 31, 0), Settable}, {"Y", V(1, 30, 0), Settable}, {"New", V(1, 30, 0), Settable},
		{"Locked", V(1, 30, 0), LockedOn}, {"Gone", V(1, 30, 0), Unknown},
	}
	f := File{7, []string{"Gone", "Locked", "NotGuarded", "X", "Y"}, nil, V(1, 30, 0), time.Time{}}
	want := Settings{Enabled: []string{"Y"}, Disabled: []string{"New", "X"}, Outside: []string{"Gone", "Locked"}}
	if diff := cmp.Diff(want, f.Apply(guards)); diff != "" {
		t.Error(diff)
	}
	want = Settings{Disabled: []string{"New", "X", "Y"}, Outside: []string{"Gone", "Locked"}}
	if diff := cmp.Diff(want, File{}.Apply(guards)); diff != "" {
		t.Errorf("no file: %s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(wholeFile))
	f.Add([]byte(`{"generation":1,"enabled":[],"disabled":["A"],"minimum":"","specMinimum":"1.30.0","statusMinimum":"","floor":1}`))
	f.Add([]byte(`{"generation":1,"generation":1}`))
	f.Add([]byte(`{"minimum": null, "enabled":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := ParseFile(data); err == nil {
			text, err := file.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			again, err := ParseFile(text)
			file.Time = file.Time.Truncate(time.Second)
			if err != nil || !cmp.Equal(again, file, sameVersion) {
				t.Fatalf("%+v came back as %+v, %v", file, again, err)
			}
			got := file.Apply([]Guard{{"A", V(1, 30, 0), Settable}, {"B", V(1, 31, 0), Settable}})
			if len(got.Enabled)+len(got.Disabled) != 2 || len(got.Enabled) > 0 && file.Minimum.Less(V(1, 30, 0)) {
				t.Fatalf("%+v applies as %+v", file, got)
			}
		}
		if state, err := ParseState(data); err == nil {
			text, err := state.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := ParseState(text); err != nil || !again.Equal(state) {
				t.Fatalf("%+v came back as %+v, %v", state, again, err)
			}
		}
	})
}
