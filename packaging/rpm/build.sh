#!/usr/bin/env bash
# Builds the RPMs from the working tree, less what git ignores:
#
#   packaging/rpm/build.sh OUTPUT
#
# They go to OUTPUT/rpm, and the source RPM, which a build system takes, beside
# them. Needs rpmbuild (package rpm-build; on Debian, rpm), Go, and the modules:
# they are packed into the source RPM, so that building that needs no network.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=$(mkdir -p "${1:?usage: build.sh OUTPUT}" && cd "$1" && pwd)

name=microshift-feature-gates
# A tag vX.Y.Z is a release. Anything else is a snapshot on the way to the next
# one, and older than that for rpm ("~").
if tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null); then
    version=${tag#v}
else
    next=$(sed -n 's/^Version:.*upstream_version:\([0-9.]*\)}$/\1/p' packaging/rpm/$name.spec)
    version=$next~$(git log -1 --format=%cd --date=format:%Y%m%d%H%M%S)git$(git rev-parse --short=8 HEAD)
fi
# The same source gives the same package.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

top=$output/rpm/build
rm -rf "$top" "$output"/rpm/*.rpm
mkdir -p "$top"/{SOURCES,SPECS}
pack() { # pack TARBALL FOLDER-OR-FILES-FROM-STDIN...
    tar --sort=name --owner=0 --group=0 --numeric-owner --mode='u+rwX,go=rX' --mtime="@$SOURCE_DATE_EPOCH" "${@:2}" -c | gzip -n >"$1"
}
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do [ -e "$f" ] && printf '%s\0' "$f"; done |
    pack "$top/SOURCES/$name-$version.tar.gz" --null --no-recursion --transform "s,^,$name-$version/,S" -T -
go mod vendor -o "$top/vendor"
pack "$top/SOURCES/$name-$version-vendor.tar.gz" -C "$top" vendor
cp packaging/rpm/$name.spec "$top/SPECS/"

with=()
if [ -e packaging/controller/$name-controller.service ] && [ -d cmd/$name-controller ]; then
    with=(--with controller)
fi
# The build requirements are names of Fedora's packages; a system without them
# has the same by other names.
rpm -q systemd-rpm-macros golang python3-devel >/dev/null 2>&1 || with+=(--nodeps)
rpmbuild -ba "${with[@]}" \
    --define "_topdir $top" --define "upstream_version $version" \
    --define "_rpmdir $output/rpm" --define "_srcrpmdir $output/rpm" \
    --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
    --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost localhost' \
    "$top/SPECS/$name.spec" >"$output/rpm/build.log" 2>&1 || { tail -n 40 "$output/rpm/build.log"; exit 1; }
rm -rf "$top"
ls "$output"/rpm/*.rpm
