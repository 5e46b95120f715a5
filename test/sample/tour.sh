#!/bin/sh
# The main job on a sample device: a configuration is refused, corrected and
# accepted, and after a revert the next start is held by the lock.
#
#   tour.sh DIR      makes the device in DIR; microshift-feature-gates is on the PATH
set -eu
dir=$1
rm -rf "$dir"
mkdir -p "$(dirname "$dir")"
cp -R "$(dirname "$0")/device" "$dir"
chmod -R go-w "$dir"

say() { printf '\n# %s\n' "$1"; }

# run CODE COMMAND: shows the command, runs it, and expects that exit code.
run() {
	printf '$ %s\n' "$2"
	code=0
	sh -c "$2" 2>&1 || code=$?
	test "$code" = 0 || echo "(exit code $code)"
	test "$code" = "$1" || { echo "tour.sh: expected exit code $1" >&2; exit 1; }
}

gates="microshift-feature-gates --root $dir --microshift-version 5.0.0"
dropin="$dir/etc/microshift/config.d/10-feature-gates.yaml"

say "An administrator adds a drop-in, and checks it:"
run 0 "cat $dropin"
run 1 "$gates validate"

say "The list wants the bare name. Corrected, the configuration is accepted:"
run 0 "sed -i s/=true// $dropin"
run 0 "$gates validate"

say "So MicroShift starts. This is what runs before it, and then what each component is given:"
run 0 "$gates --log-level warn prestart"
run 0 "$gates show"

say "The gates can't be taken back: the lock refuses the next start without them."
run 0 "rm $dropin"
run 4 "$gates --log-level error prestart"
