#!/bin/bash
# Required check of greenboot: fails the boot when the configuration of feature
# gates or their lock has stopped MicroShift, and prints the reason. It does not
# judge anything else about MicroShift; 40_microshift_running_check.sh does.
#
# After a rollback it says, also in the journal of microshift.service, why the
# other system did not start.
set -u

unit=microshift.service
command=/usr/bin/microshift-feature-gates
backups=/var/lib/microshift-backups
reason=$backups/prerun_failed.log
# What stopped the last boot. /var is the same for every deployment, so this
# survives a rollback.
remembered=$backups/feature_gates_refused.log

property() { systemctl show --value -p "$1" "$unit" 2>/dev/null; }

# deployment names the ostree deployment that is booted; empty without ostree.
deployment() { sed -n 's/.*\bostree=\([^ ]*\).*/\1/p' /proc/cmdline 2>/dev/null; }

boot() { cat /proc/sys/kernel/random/boot_id 2>/dev/null; }

# check_status prints how the check before the start ended: "exited 4" for
# instance, or nothing where it has not.
check_status() {
    systemctl show -p ExecStartPre "$unit" 2>/dev/null |
        sed -n "s#.*path=$command ;.* code=\([a-z]*\) ; status=\([0-9]*\).*#\1 \2#p" | tail -n 1
}

# say prints to the log of greenboot, and to the journal of MicroShift.
say() {
    echo "$1"
    printf '%s\n' "MESSAGE=$1" PRIORITY=4 SYSLOG_IDENTIFIER=microshift-feature-gates-greenboot \
        "OBJECT_SYSTEMD_UNIT=$unit" | logger --journald 2>/dev/null
}

print_reason() {
    echo "MicroShift was stopped before its start; its feature gates are the reason:"
    if [ -s "$reason" ]; then
        cat "$reason"
    else
        journalctl -b -u "$unit" -o cat --no-pager SYSLOG_IDENTIFIER=microshift-feature-gates 2>/dev/null | tail -n 40
    fi
}

# remember keeps the reason for the system that a rollback leads to.
remember() {
    {
        echo "boot $(boot)"
        echo "deployment $(deployment)"
        print_reason
    } 2>/dev/null >"$remembered.tmp" && mv -f "$remembered.tmp" "$remembered"
}

# tell_of_rollback says what an earlier boot remembered: all of it here, and its
# first line in the journal.
tell_of_rollback() {
    [ -s "$remembered" ] || return 0
    [ "$(sed -n 's/^boot //p' "$remembered")" = "$(boot)" ] && return 0
    local other
    other=$(sed -n 's/^deployment //p' "$remembered")
    if [ "$other" != "$(deployment)" ]; then
        other="this system was rolled back or replaced; feature gates stopped MicroShift on the other deployment ($other)"
    else
        other="feature gates stopped MicroShift at an earlier boot of this system"
    fi
    say "$other: $(sed -n 4p "$remembered")"
    sed '1,4d; s/^/  /' "$remembered"
    rm -f "$remembered"
}

if [ "$(id -u)" -ne 0 ]; then
    echo "must run as root"
    exit 1
fi
if ! systemctl is-enabled --quiet "$unit" 2>/dev/null; then
    echo "$unit is not enabled; nothing to check"
    exit 0
fi

# As long as MicroShift's own check waits, within the same limits.
timeout=300
if [ -r /etc/greenboot/greenboot.conf ]; then
    configured=$(sed -n 's/^[[:space:]]*MICROSHIFT_WAIT_TIMEOUT_SEC=["'\'']\{0,1\}\([0-9]\{2,4\}\).*/\1/p' /etc/greenboot/greenboot.conf | tail -n 1)
    [ -n "$configured" ] && timeout=$configured
fi

for ((waited = 0; waited < timeout; waited++)); do
    state=$(property ActiveState)/$(property SubState)
    case $state in
    inactive/* | activating/start-pre | activating/condition | deactivating/* | reloading/*) sleep 1 ;;
    failed/*) break ;;
    *)
        tell_of_rollback
        echo "feature gates did not stop MicroShift ($state)"
        exit 0
        ;;
    esac
done

status=$(check_status)
case $state:$status in
failed/*:"exited 0")
    echo "MicroShift failed, but not because of feature gates"
    exit 0
    ;;
failed/*:exited\ * | failed/*:killed\ * | failed/*:dumped\ *)
    print_reason
    remember
    exit 1
    ;;
failed/*)
    # systemd has forgotten how the check ended, so ask it again.
    if answer=$("$command" validate 2>&1); then
        echo "MicroShift failed, but not because of feature gates"
        exit 0
    fi
    printf '%s\n' "$answer"
    print_reason
    remember
    exit 1
    ;;
esac
echo "MicroShift has not been started within ${timeout}s ($state); that is not for this check to judge"
