#!/usr/bin/env bash
# build.sh VERSION OUT: builds the oracle with the sources of a version of Kubernetes (v1.34.4, v1.35.4, v1.36.3, v1.37.1).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); version=$1; out=$(realpath -m "$2"); work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.go "$here"/go.mod "$work/"
cd "$work"
if [ "$version" != v1.36.3 ]; then
    patch -p1 < "$here/patches/$version.patch"
    sed -i -e '/logr v/d' -e '/klog\/v2 v/d' -e "s/ v0\.36\.3/ v0.${version#v1.}/; s/ v1\.36\.3/ $version/" go.mod
fi
go mod tidy
CGO_ENABLED=0 go build -trimpath -o "$out" .
