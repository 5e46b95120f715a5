package rollout

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The model test plays clusters in which everything goes wrong that may:
// 250 of them, 600 events each, then an end of all faults. Each seed is one
// cluster, the same on every run. What must hold is in invariants_test.go.
var (
	modelSeed  = flag.Uint64("model.seed", 0, "play only the cluster of this seed and show its events")
	modelRuns  = flag.Uint64("model.runs", 250, "clusters to play")
	modelSteps = flag.Int("model.steps", 600, "events per cluster, before the faults stop")
)

func TestModel(t *testing.T) {
	first, last := uint64(1), *modelRuns
	if *modelSeed != 0 {
		first, last = *modelSeed, *modelSeed
	}
	steps, seen := 0, map[string]int{}
	for seed := first; seed <= last; seed++ {
		w := play(seed, *modelSeed != 0)
		steps += w.steps
		for what, n := range w.seen {
			seen[what] += n
		}
		if w.broken != "" {
			w = play(seed, true) // once more, with its story
			story := w.story[max(0, len(w.story)-60):]
			t.Fatalf("-model.seed=%d, event %d: %s\n%s", seed, w.steps, w.broken, strings.Join(story, "\n"))
		}
		if *modelSeed != 0 {
			t.Log(strings.Join(w.story, "\n"))
		}
	}
	t.Logf("%d events: %v", steps, seen)
	if *modelSeed != 0 || *modelRuns < 100 {
		return
	}
	if steps < 100_000 {
		t.Errorf("only %d events", steps)
	}
	for _, what := range []string{ // a model in which these don't happen proves nothing
		"enabled", "kept", "disabled", "raised", "relaxed", "recovered", "conflict", "answer lost", "write failed",
		"served", "file lost", "file refused", "stale node", "relist", "settled", "settled with gates on", "locked",
	} {
		if seen[what] < 5 {
			t.Errorf("%q happened %d times", what, seen[what])
		}
	}
}

// play runs the cluster of one seed to its end, or to the first violation.
func play(seed uint64, tell bool) *world {
	w := newWorld(seed, tell)
	for range *modelSteps {
		w.event()
		w.steps++
		if w.check(); w.broken != "" {
			return w
		}
	}
	w.calm()
	return w
}

var modelGuards = []Guard{{"X", V(1, 30, 0), Settable}, {"Y", V(1, 31, 0), Settable}, {"Z", V(1, 32, 5), Settable}}

var specs = []Version{{}, {}, V(1, 29, 0), V(1, 30, 0), V(1, 31, 0), V(1, 32, 5), V(1, 32, 5), V(1, 33, 0), V(1, 37, 0)}

// world is a cluster: what the API server stores, and everyone who uses it.
type world struct {
	rng    *rand.Rand
	tell   bool
	story  []string
	steps  int
	seen   map[string]int
	broken string

	stored   State           // the ConfigMap, read; zero: there is none
	rev      int             // its resource version
	nodes    map[string]Node // the Node objects, by name
	devices  map[string]*device
	away     []*device // deleted from the cluster, disk and all
	ctrls    []*controller
	enforced Version          // the status last written, also while the ConfigMap is lost
	floor    int64            // the highest floor ever written
	lost     bool             // the ConfigMap was deleted or put back, and nobody has written since
	sets     map[int64]string // of every generation that ever was
	taken    int64            // highest generation ever acknowledged
	history  [][]byte         // every ConfigMap there was
}

// device is a node's disk and its running MicroShift.
type device struct {
	name, kubelet string
	disk          []byte // the rollout file; nil: none
	served        File   // what MicroShift was started with
	highest       int64  // highest generation ever served
	cache         State  // the ConfigMap as its agent last saw it
	wasAway       bool
	locked        bool // its Kubernetes locks Z
}

// controller is one replica with its caches; which of them leads does not matter.
type controller struct {
	state   State
	rev     int
	synced  bool
	nodes   map[string]Node
	spec    Version
	locked  bool
	live    bool // it wants to list the nodes before the next step
	pending *write
	host    string
}

// write is a change that a controller is about to make.
type write struct {
	state State
	rev   int
	obs   Observation
	phase Phase
}

func newWorld(seed uint64, tell bool) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), tell: tell, seen: map[string]int{},
		nodes: map[string]Node{}, devices: map[string]*device{}, sets: map[int64]string{},
	}
	for range 3 {
		w.ctrls = append(w.ctrls, &controller{nodes: map[string]Node{}})
	}
	for range 1 + w.rng.IntN(4) {
		w.join()
	}
	return w
}

func (w *world) note(format string, args ...any) {
	if w.tell {
		w.story = append(w.story, fmt.Sprintf("%4d ", w.steps)+fmt.Sprintf(format, args...))
	}
}

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

func pick[T any](w *world, from []T) T { return from[w.rng.IntN(len(from))] }

// device returns any device of the cluster, nil if there is none.
func (w *world) device() *device {
	if len(w.devices) == 0 {
		return nil
	}
	return w.devices[pick(w, slices.Sorted(maps.Keys(w.devices)))]
}

// event lets one thing happen.
func (w *world) event() {
	c, d := pick(w, w.ctrls), w.device()
	switch n := w.rng.IntN(1000); {
	case n < 80:
		w.syncState(c)
	case n < 160:
		w.syncNodes(c)
	case n < 330:
		w.plan(c)
	case n < 470:
		w.commit(c)
	case n < 480:
		*c = controller{nodes: map[string]Node{}, spec: c.spec, locked: c.locked} // killed and restarted
		w.note("controller restarts")
	case n < 492:
		spec := pick(w, specs)
		for _, other := range w.ctrls {
			if other == c || w.chance(60) {
				other.spec = spec
			}
		}
		w.note("minimum %v", spec)
	case n < 494:
		c.locked = !c.locked
		w.seen["locked"]++
	case n < 504:
		w.join()
	case n < 516:
		w.back()
	case n < 521:
		w.lose()
	case d == nil:
	case n < 535:
		w.leave(d)
	case n < 555:
		w.upgrade(d)
	case n < 650:
		d.cache = w.state()
	case n < 760:
		w.refresh(d)
	case n < 870:
		w.restart(d)
	case n < 990:
		w.acknowledge(d)
	default:
		w.ruin(d)
	}
}

// state is the ConfigMap as the API server has it.
func (w *world) state() State { return w.stored }

// store replaces the ConfigMap; nil deletes it.
func (w *world) store(data []byte) {
	w.stored = State{}
	w.rev++
	if data == nil {
		return
	}
	var err error
	if w.stored, err = ParseState(data); err != nil {
		w.fail("stored state: %v", err)
	}
}

// acknowledged is the highest generation on any Node.
func (w *world) acknowledged() (highest int64) {
	for _, n := range w.nodes {
		highest = max(highest, n.Acknowledged)
	}
	return highest
}

// lose deletes the ConfigMap or puts an older one back, as long as
// acknowledgements tell of it: see RecoveryGap.
func (w *world) lose() {
	taken := w.acknowledged()
	if w.lost || w.stored.Generation == 0 || taken == 0 || w.state().Generation-taken >= RecoveryGap/2 || w.chance(50) {
		return
	}
	old := []byte(nil)
	if w.chance(50) {
		old = pick(w, w.history)
		if s, _ := ParseState(old); s.Generation >= taken {
			return
		}
	}
	w.store(old)
	w.lost = true
	w.note("the ConfigMap becomes %q", old)
}
