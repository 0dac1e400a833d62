#!/usr/bin/env bash
# Tests that the programs in the Debian package and in the tarball contain the list of their libraries,
# and that it is the one beside the packages:
#
#   robot-rocket/deploy/packages/test-sbom.sh FOLDER
#
# Needs auditable2cdx and the Debian package jq.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# $1: the folder of the programs, $2: the package.
check() {
    local program list
    for program in robot-rocket robot-cli; do
        list=$2-$program.cdx.json
        auditable2cdx "$1/$program" | cmp - "$list" || {
            echo "$list differs from the list in $program" >&2
            exit 1
        }
        jq --exit-status --arg program "$program" '.bomFormat == "CycloneDX" and
            .metadata.component.name == $program and
            (["libsqlite3-sys", "mysql_async", "tokio-postgres"] - [.components[].name] == [])' "$list" >/dev/null || {
            echo "$list is no list of libraries in the format CycloneDX with those of all stores" >&2
            exit 1
        }
    done
}

debs=("$1"/robot-catalogue_*.deb)
dpkg-deb --extract "${debs[0]}" "$work/debian"
check "$work/debian/usr/bin" "${debs[0]%.deb}"

tarballs=("$1"/robot-catalogue-*-linux.tar.gz)
mkdir "$work/tarball"
tar --extract --file "${tarballs[0]}" --directory "$work/tarball" --strip-components=1
check "$work/tarball" "${tarballs[0]%.tar.gz}"
