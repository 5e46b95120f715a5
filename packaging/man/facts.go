package main

// facts are what a command's --help does not say, and a manual page has to
// (man-pages(7)). All but exits are for the page of the command itself alone.
type facts struct {
	exits [][2]string
	files [][2]string
	also  []string // pages of other commands
}

// known has the facts of each command that has manual pages, by its name.
var known = map[string]facts{
	"microshift-feature-gates": {
		exits: [][2]string{
			{"0", "Fine."},
			{"1", "The configuration is rejected."},
			{"2", "Wrong usage, or a wrong value in /etc/sysconfig/microshift-feature-gates."},
			{"3", "The work could not be done: a file can't be read or written, or a program is missing."},
			{"4", "Stopped by the lock."},
		},
		files: [][2]string{
			{"/etc/microshift/config.yaml", "MicroShift's configuration; the section is apiServer.featureGates."},
			{"/etc/microshift/config.d/*.yaml", "Drop-ins, merged onto it in lexical order."},
			{"/etc/sysconfig/microshift-feature-gates", "The upgrade policy and the log format of the device, where no flag gives them."},
			{"/var/lib/microshift/no-upgrade", "The lock."},
			{"/var/lib/microshift/feature-gates-rollout.json", "Which gates the rollout by minimumKubeletVersion has turned on and off."},
			{"/var/lib/microshift-backups/prerun_failed.log", "Why the last start was refused; removed by the next that is not."},
		},
	},
	"microshift-feature-gates-controller": {
		exits: [][2]string{
			{"0", "Ended by SIGINT or SIGTERM."},
			{"2", "Wrong usage."},
			{"3", "It could not begin: the kubeconfig or the version of MicroShift can't be read, or ADDRESS:PORT can't be listened on."},
		},
		files: [][2]string{
			{"/etc/sysconfig/microshift-feature-gates-controller", "CONTROLLER_FLAGS, the flags that systemd starts it with."},
			{"/etc/microshift/config.yaml", "MicroShift's configuration; apiServer.featureGates.minimumKubeletVersion is the minimum."},
			{"/etc/microshift/config.d/*.yaml", "Drop-ins, merged onto it in lexical order."},
			{"/var/lib/microshift/resources/kubeadmin/kubeconfig", "The kubeconfig of the device's administrator, unless --kubeconfig names another."},
			{"/etc/microshift-feature-gates-controller/kubeconfig", "Where one with fewer rights goes; the service starts where there is either."},
			{"/usr/share/microshift-feature-gates-controller/rbac.yaml", "The rights that suffice, and a service account."},
			{"/var/lib/microshift/version", "The version of MicroShift, unless --microshift-version gives it."},
			{"/var/lib/microshift/feature-gates-rollout.json", "The rollout file, written here: the gates that MicroShift takes at its next start."},
			{"/run/microshift-feature-gates/started.json", "The rollout file that MicroShift was started with."},
			{"/run/microshift-feature-gates/cluster.json", "What was last seen in the cluster, written here."},
		},
		also: []string{"microshift-feature-gates", "microshift-feature-gates-lock", "microshift-feature-gates-show"},
	},
}
