# This file is part of microshift-feature-gates.
# SPDX-License-Identifier: Apache-2.0

from sos.report.plugins import Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin


# sos 4.0 knows no plugins for all systems, though it has the class for them.
class MicroshiftFeatureGates(Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin):
    """Feature gates of MicroShift: what is configured, what the device is
    locked to, and what stopped the last start. Needs no running cluster, and
    works when the configuration is wrong.
    """

    short_desc = 'MicroShift feature gates'
    plugin_name = 'microshift_feature_gates'
    profiles = ('microshift', 'openshift')
    packages = ('microshift-feature-gates',)
    commands = ('microshift-feature-gates',)
    services = ('microshift',)

    def setup(self):
        # sos before 4.6 does not collect the journal along with a service.
        self.add_journal(units='microshift')
        self.add_journal(units='microshift-feature-gates-controller')
        self.add_journal(units='greenboot-healthcheck')
        self.add_copy_spec([
            '/etc/microshift/config.yaml',
            '/etc/microshift/config.d',
            '/etc/sysconfig/microshift-feature-gates',
            '/etc/sysconfig/microshift-feature-gates-controller',
            '/var/lib/microshift/no-upgrade',
            '/var/lib/microshift/version',
            '/var/lib/microshift/feature-gates-rollout.json',
            '/run/microshift-feature-gates/started.json',
            '/run/microshift-feature-gates/cluster.json',
            '/var/lib/microshift-backups/prerun_failed.log',
            '/var/lib/microshift-backups/feature_gates_refused.log',
        ], sizelimit=100)
        self.add_cmd_output([
            'microshift version -o json',
            'microshift-feature-gates version',
            'microshift-feature-gates show',
            'microshift-feature-gates show -o json',
            'microshift-feature-gates lock',
            'microshift-feature-gates validate',
            'systemctl cat microshift.service',
            'ls -lanRZ /etc/microshift',
            'ls -lanZ /var/lib/microshift /var/lib/microshift-backups',
        ])
