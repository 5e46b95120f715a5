package controller

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

func TestServer(t *testing.T) {
	m := NewMetrics()
	c := &Controller{}
	handler := Server(c, m).Handler
	ask := func(method, path string) (int, string) {
		t.Helper()
		r := httptest.NewRecorder()
		handler.ServeHTTP(r, httptest.NewRequest(method, path, nil))
		return r.Code, r.Body.String()
	}
	if code, text := ask("GET", "/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "not been read") {
		t.Errorf("before the cluster is watched: %d %s", code, text)
	}
	c.ready.Store(true)
	if code, text := ask("GET", "/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("once the cluster is watched: %d %s", code, text)
	}

	m.setRollout(rollout.State{Generation: 4}, rollout.Report{Phase: rollout.Lower})
	m.setRollout(rollout.State{Generation: 5}, rollout.Report{Phase: rollout.Deliver, Waiting: []string{"a", "b"}})
	m.setDevice(rollout.File{Generation: 5}, rollout.File{Generation: 3})
	m.setLeads(true)
	m.wrote("configmap", nil)
	m.wroteSome("node", 2, http.ErrHandlerTimeout)
	m.synced(itemRollout, nil)
	code, text := ask("GET", "/metrics")
	for _, line := range []string{
		"microshift_feature_gates_generation 5",
		"microshift_feature_gates_device_generation 5",
		"microshift_feature_gates_started_generation 3",
		"microshift_feature_gates_leader 1",
		`microshift_feature_gates_nodes{state="waiting"} 2`,
		`microshift_feature_gates_nodes{state="stale"} 0`,
		`microshift_feature_gates_phase{phase="Deliver"} 1`,
		`microshift_feature_gates_writes_total{object="configmap",result="ok"} 1`,
		`microshift_feature_gates_writes_total{object="node",result="ok"} 2`,
		`microshift_feature_gates_writes_total{object="node",result="error"} 1`,
		`microshift_feature_gates_syncs_total{result="ok",work="rollout"} 1`,
	} {
		if code != http.StatusOK || !strings.Contains(text, line+"\n") {
			t.Errorf("%d, and no %s", code, line)
		}
	}
	if strings.Contains(text, `phase="Lower"`) {
		t.Error("the phase before is still there")
	}
	for _, request := range []string{"POST /healthz", "GET /", "GET /debug/pprof/"} {
		method, path, _ := strings.Cut(request, " ")
		if code, _ := ask(method, path); code < 400 {
			t.Errorf("%s: %d", request, code)
		}
	}
}
