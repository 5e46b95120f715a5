package rollout

import "time"

// The devices of the model: they come and go, change their kubelets, copy the
// state to their disks, start with what is there, and say so some time later.

// version is a kubelet's: mostly new, sometimes old, sometimes a lie.
func (w *world) version() string {
	if w.chance(85) {
		return pick(w, []string{"v1.36.2", "1.33.0", "v1.33.1+a", "1.36.0-rc.0", "1.32.5-ec.1"})
	}
	return pick(w, []string{"1.32.4", "1.31.0", "v1.29.8-20+15d27f9ba1c119", "bogus", "", "1.36"})
}

func (w *world) join() {
	name := pick(w, []string{"a", "b", "c", "d", "e"})
	if w.devices[name] != nil {
		return
	}
	d := &device{name: name, kubelet: w.version(), locked: w.chance(5)}
	w.devices[name] = d
	w.nodes[name] = Node{Name: name, Kubelet: d.kubelet}
	w.note("%s joins with %q", name, d.kubelet)
}

// leave deletes a Node. Mostly the device is wiped, as it should be. The last
// witness of a lost ConfigMap stays.
func (w *world) leave(d *device) {
	if w.lost {
		return
	}
	delete(w.devices, d.name)
	delete(w.nodes, d.name)
	if keep := w.chance(50); keep {
		w.away = append(w.away, d)
	}
	w.note("%s leaves", d.name)
}

// back lets a device return that was not wiped: with its old disk and a Node
// that has acknowledged nothing.
func (w *world) back() {
	if len(w.away) == 0 || w.devices[w.away[0].name] != nil {
		return
	}
	d := w.away[0]
	w.away = w.away[1:]
	d.wasAway, d.cache = true, State{}
	w.devices[d.name] = d
	w.nodes[d.name] = Node{Name: d.name, Kubelet: d.kubelet}
	w.note("%s is back", d.name)
	w.restart(d)
}

func (w *world) upgrade(d *device) {
	d.kubelet = w.version()
	n := w.nodes[d.name]
	n.Kubelet = d.kubelet
	w.nodes[d.name] = n
	w.note("%s reports %q", d.name, d.kubelet)
}

// refresh is the agent of a device bringing its file up to date.
func (w *world) refresh(d *device) {
	have, err := ParseFile(d.disk)
	known := w.nodes[d.name].Acknowledged
	if err != nil {
		d.cache, known = w.state(), w.acknowledged() // without a file, not from a cache
	}
	f, changed, err := have.Advance(d.cache, known, time.Unix(1e9, 0))
	if err != nil {
		w.fail("%s: %v", d.name, err)
	}
	if !changed || w.chance(10) {
		return // nothing to write, or the write fails
	}
	if d.disk, err = f.Marshal(); err != nil {
		w.fail("%s: %v", d.name, err)
	}
	w.note("%s has the file of generation %d, minimum %v", d.name, f.Generation, f.Minimum)
}

// restart lets MicroShift take what is on the disk, without any API server.
func (w *world) restart(d *device) {
	f, err := ParseFile(d.disk)
	if err != nil && d.disk != nil {
		w.seen["file refused"]++
	}
	d.served = f
	w.note("%s starts generation %d: %v", d.name, f.Generation, f.Enabled)
	w.checkServed(d)
}

func (w *world) acknowledge(d *device) {
	n := w.nodes[d.name]
	if w.lost && d.served.Generation < n.Acknowledged {
		return // the witness
	}
	n.Acknowledged = ParseGeneration(FormatGeneration(d.served.Generation))
	w.nodes[d.name] = n
	w.taken = max(w.taken, n.Acknowledged)
	w.note("%s acknowledges %d", d.name, n.Acknowledged)
}

// ruin damages or removes a device's file.
func (w *world) ruin(d *device) {
	if w.chance(50) {
		d.disk = nil
	} else if len(d.disk) > 0 {
		d.disk = d.disk[:w.rng.IntN(len(d.disk))/2]
	}
	w.seen["file lost"]++
	w.note("%s loses its file", d.name)
}
