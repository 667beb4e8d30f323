#!/usr/bin/env bash
# build.sh VOLCANO_TREE OUT: builds the Volcano oracle against a source tree of volcano-sh/volcano (recorded with ed72c7c, August 2026).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); tree=$(cd "$1" && pwd); out=$(realpath -m "$2"); work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.go "$work/"
# Until v1.15 plugins note on the pod itself what it is bound with.
grep -q PodAnnotations "$tree/pkg/scheduler/api/job_info.go" || sed -i 's/t\.PodAnnotations/map[string]string{}/' "$work/objects.go"
python3 - "$tree" "$work" <<'P'
import re, sys
tree, work = sys.argv[1:]
text = open(f"{tree}/go.mod").read()
go = re.search(r"^go .*$", text, re.M).group(0)
block = re.search(r"^replace \((.*?)^\)", text, re.M | re.S)
replaces = [l.strip() for l in block.group(1).splitlines() if l.strip() and not l.strip().startswith("//") and "volcano.sh/apis" not in l]
replaces += [f"volcano.sh/volcano => {tree}", f"volcano.sh/apis => {tree}/staging/src/volcano.sh/apis"]
open(f"{work}/go.mod", "w").write(f"module volcanooracle\n\n{go}\n\nrequire (\n\tvolcano.sh/volcano v0.0.0\n\tvolcano.sh/apis v0.0.0\n)\n\nreplace (\n\t" + "\n\t".join(replaces) + "\n)\n")
P
cd "$work" && go mod tidy && go build -o "$out" .
