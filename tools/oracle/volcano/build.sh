#!/usr/bin/env bash
# build.sh VOLCANO_TREE OUT: builds the Volcano oracle against a source tree of volcano-sh/volcano (recorded with ed72c7c, August 2026, and v1.15.1).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); tree=$(cd "$1" && pwd); out=$(realpath -m "$2"); work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.go "$tree/go.sum" "$work/"
# Until v1.15 plugins note on the pod itself what it is bound with.
grep -q PodAnnotations "$tree/pkg/scheduler/api/job_info.go" || sed -i 's/t\.PodAnnotations/map[string]string{}/' "$work/objects.go"
grep -q 'func SetClient' "$tree/pkg/scheduler/api/devices/util.go" || sed -i 's/devices\.SetClient(client)/_ = devices.NewClient/' "$work/objects.go"
# Every module in the version that the tree has it in, and the tree itself for its two modules.
sed "s|^module .*|module volcanooracle|; s|^\(\s*\)volcano.sh/apis => .*|\1volcano.sh/apis => $tree/staging/src/volcano.sh/apis\n\1volcano.sh/volcano => $tree|" "$tree/go.mod" > "$work/go.mod"
printf '\nrequire volcano.sh/volcano v0.0.0\n' >> "$work/go.mod"
cd "$work" && go build -mod=mod -o "$out" .
