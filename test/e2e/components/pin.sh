#!/usr/bin/env bash
# Pins a module of test components to a Kubernetes version: the one that the
# registry of that minor was made from.
#
#   components/pin.sh DIR VERSION     such as: components/pin.sh . 1.36.2
#                                          or: components/pin.sh kubernetes-1.35 1.35.4
#
# A DIR that is not there becomes a module with kube-apiserver alone.
set -euo pipefail
cd "$(dirname "$0")"
usage="usage: pin.sh DIR VERSION"
dir=${1:?$usage} version=${2:?$usage}

original=$(cd / && go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
# Kubernetes has the modules of its own repository at v0.0.0; they are
# published as v0.NN.P with each v1.NN.P.
staging=$(sed -n "s|^\t\(k8s\.io/[^ ]*\) => \./staging/.*|\1 => \1 v0${version#1}|p" "$original")

if [ ! -e "$dir/go.mod" ]; then
	mkdir -p "$dir"
	cat >"$dir/go.mod" <<-EOF
		module github.com/microshift-io/microshift-feature-gates/test/e2e/components/$dir

		$(grep '^go ' "$original")

		$(grep '^godebug ' "$original")

		tool k8s.io/kubernetes/cmd/kube-apiserver

		require k8s.io/kubernetes v$version

		replace (
		$staging
		)
	EOF
fi
cd "$dir"
edits=(-go="$(sed -n 's/^go //p' "$original")" -godebug="$(sed -n 's/^godebug //p' "$original")" -require="k8s.io/kubernetes@v$version")
while read -r module _ _ at; do
	edits+=(-replace="$module=$module@$at")
done <<<"$staging"
go mod edit "${edits[@]}"
go mod tidy
