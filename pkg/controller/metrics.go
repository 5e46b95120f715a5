package controller

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/microshift-io/microshift-feature-gates/pkg/rollout"
)

const prefix = "microshift_feature_gates_"

// Metrics counts and shows what a controller does.
type Metrics struct {
	registry                          *prometheus.Registry
	generation, file, started, leader prometheus.Gauge
	nodes                             *prometheus.GaugeVec
	phase                             *prometheus.GaugeVec
	syncs, writes                     *prometheus.CounterVec
}

// NewMetrics returns metrics with a registry of their own.
func NewMetrics() *Metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		generation: gauge("generation", "Generation of the feature gates of the cluster, 0 for none."),
		file:       gauge("device_generation", "Generation in the rollout file of this device, 0 for none."),
		started:    gauge("started_generation", "Generation that MicroShift was started with on this device, 0 for none."),
		leader:     gauge("leader", "1 if this controller leads."),
		nodes:      gauges("nodes", "Nodes that are waited for, too old, of no readable version, or with a set that the minimum no longer covers.", "state"),
		phase:      gauges("phase", "1 for the phase of the rollout.", "phase"),
		syncs:      counters("syncs_total", "Pieces of work done.", "work", "result"),
		writes:     counters("writes_total", "Writes to the cluster.", "object", "result"),
	}
	m.registry.MustRegister(m.generation, m.file, m.started, m.leader, m.nodes, m.phase, m.syncs, m.writes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics in Prometheus' format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

func (m *Metrics) synced(it item, err error) { m.syncs.WithLabelValues(string(it), result(err)).Inc() }

func (m *Metrics) wrote(object string, err error) {
	m.writes.WithLabelValues(object, result(err)).Inc()
}

func (m *Metrics) wroteSome(object string, writes int, err error) {
	m.writes.WithLabelValues(object, "ok").Add(float64(writes))
	if err != nil {
		m.wrote(object, err)
	}
}

func (m *Metrics) setLeads(leads bool) {
	m.leader.Set(0)
	if leads {
		m.leader.Set(1)
	}
}

func (m *Metrics) setRollout(s rollout.State, r rollout.Report) {
	m.generation.Set(float64(s.Generation))
	for state, names := range map[string][]string{"waiting": r.Waiting, "outdated": r.Outdated, "unreadable": r.Unreadable, "stale": r.Stale} {
		m.nodes.WithLabelValues(state).Set(float64(len(names)))
	}
	m.phase.Reset()
	m.phase.WithLabelValues(string(r.Phase)).Set(1)
}

func (m *Metrics) setDevice(f, started rollout.File) {
	m.file.Set(float64(f.Generation))
	m.started.Set(float64(started.Generation))
}
