//go:build e2e

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writes is the number of writes, by what was written: the resource and, for
// one object, its name.
type writes map[string]int

// written is what the controllers have written so far, the status with its
// object.
func (s *server) written(t testing.TB) writes {
	return s.audited(t, func(code int) bool { return code < 300 })
}

// refused is what they have tried to write and the API server did not take.
func (s *server) refused(t testing.TB) writes {
	return s.audited(t, func(code int) bool { return code == http.StatusUnprocessableEntity })
}

// audited reads the audit log of the API server for the writes of controllers
// that were answered with certain codes.
func (s *server) audited(t testing.TB, answered func(code int) bool) writes {
	t.Helper()
	f, err := os.Open(s.audit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := writes{}
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var e struct {
			Verb, UserAgent string
			ObjectRef       *struct{ Resource, Name, APIGroup string }
			ResponseStatus  struct{ Code int }
		}
		if json.Unmarshal(scanner.Bytes(), &e) != nil || e.ObjectRef == nil || !strings.HasPrefix(e.UserAgent, "microshift-feature-gates-controller") {
			continue
		}
		if !slices.Contains([]string{"create", "update", "patch", "delete", "apply"}, e.Verb) || !answered(e.ResponseStatus.Code) {
			continue
		}
		name := e.ObjectRef.Resource
		if e.ObjectRef.APIGroup != "" {
			name += "." + e.ObjectRef.APIGroup
		}
		if e.ObjectRef.Resource != "events" {
			name += "/" + e.ObjectRef.Name
		}
		w[name]++
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

// since returns what is in w and not yet in before.
func (w writes) since(before writes) writes {
	d := writes{}
	for name, n := range w {
		if n -= before[name]; n != 0 {
			d[name] = n
		}
	}
	return d
}

func (w writes) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(w)) {
		list = append(list, fmt.Sprintf("%s %d", name, w[name]))
	}
	return strings.Join(list, ", ")
}

var requestTotal = regexp.MustCompile(`(?m)^apiserver_request_total\{([^}]*)\} ([0-9.e+]+)$`)

// counted sums up the writes that the API server's own metrics count, whoever
// made them, by resource. Of leases it has many of its own.
func (s *server) counted(t testing.TB) writes {
	t.Helper()
	data, err := s.client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w := writes{}
	for _, m := range requestTotal.FindAllSubmatch(data, -1) {
		labels := string(m[1])
		n, _ := strconv.ParseFloat(string(m[2]), 64)
		for _, verb := range []string{"POST", "PUT", "PATCH", "APPLY", "DELETE"} {
			if strings.Contains(labels, `verb="`+verb+`"`) {
				w[regexp.MustCompile(`resource="([^"]*)"`).FindStringSubmatch(labels[strings.LastIndex(labels, ",resource=")+1:])[1]] += int(n)
			}
		}
	}
	return w
}
