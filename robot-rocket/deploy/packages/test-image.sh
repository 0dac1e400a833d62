#!/usr/bin/env bash
# Tests the OCI image: its size, its configuration, and the server in its unpacked layers, with its
# user and environment, while only the volume can be written. Run as root:
#
#   robot-rocket/deploy/packages/test-image.sh FOLDER
set -euo pipefail
if [ "${1:-}" != --inside ]; then
    # The mounts of this test end with it.
    exec unshare --mount "$0" --inside "$@"
fi
packages=$(realpath "$(dirname "$0")")
images=("$2"/robot-catalogue-*.oci.tar)
image=${images[0]}
work=$(mktemp -d)
trap 'umount --recursive "$work/root" 2>/dev/null || true; rm -rf "$work"' EXIT
chmod 755 "$work"

fail() {
    echo "$image: $*" >&2
    exit 1
}

# The file of the layout with the digest that jq finds in the file $1 by the expression $2.
blob() {
    local digest
    digest=$(jq --exit-status --raw-output "$2" "$1")
    echo "$work/layout/blobs/${digest/://}"
}

mkdir "$work/layout" "$work/root"
tar --extract --file "$image" --directory "$work/layout"
manifest=$(blob "$work/layout/index.json" '.manifests[0].digest')
config=$(blob "$manifest" '.config.digest')
while read -r digest; do
    tar --extract --file "$work/layout/blobs/${digest/://}" --directory "$work/root" --same-owner --numeric-owner
done < <(jq --raw-output '.layers[].digest' "$manifest")

size=$(du --summarize --bytes "$work/root" | cut -f1)
((size <= 35000000)) || fail "the image has $size bytes, more than 35 MB"
user=$(jq --raw-output '.config.User' "$config")
[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "the user '$user' is not a number, or is root"
jq --exit-status '.config.Volumes | has("/data")' "$config" >/dev/null || fail "/data is not a volume"
command=$(jq --raw-output '.config.Entrypoint | join(" ")' "$config")
mapfile -t environment < <(jq --raw-output '.config.Env[]' "$config")

# A container is reachable from the network, so it does not start without a permission.
without=$(env --ignore-environment "${environment[@]}" /usr/sbin/chroot --userspec "$user" "$work/root" "$command" 2>&1) &&
    fail "the server starts without tokens"
[[ $without = *ROCKET_API_TOKENS* ]] || fail "the server does not mention tokens: $without"

# A runtime mounts a volume with the owner that the image has.
mkdir "$work/data"
chown --reference "$work/root/data" "$work/data"
mount --bind "$work/root" "$work/root"
mount --options remount,bind,ro "$work/root"
mount --bind "$work/data" "$work/root/data"
if touch "$work/root/file" 2>/dev/null; then fail "the root directory can be written"; fi
"$packages/try-server.sh" "$work/root" "$user" "$command" "${environment[@]}" ROCKET_ALLOW_ANONYMOUS=true
[ -s "$work/data/robots.db" ] || fail "the volume has no database"
