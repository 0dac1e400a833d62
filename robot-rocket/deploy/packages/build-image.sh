#!/usr/bin/env bash
# Builds the OCI image of the static programs, as root: an archive in the folder that build.sh has filled.
#
#   robot-rocket/deploy/packages/build-image.sh FOLDER
#
# Needs the Debian package buildah, and neither a daemon nor a network.
set -euo pipefail
out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tarballs=("$out"/robot-catalogue-*-linux.tar.gz)
name=$(basename "${tarballs[0]}" .tar.gz)
version=${name#robot-catalogue-}
version=${version%-*-linux}
image=$out/robot-catalogue-$version.oci.tar
tar --extract --file "${tarballs[0]}" --directory "$work"
created=$(stat --format %Y "$work/$name")
mkdir --mode 700 "$work/data"

buildah() {
    command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"
}

container=$(buildah from scratch)
buildah copy --quiet "$container" "$work/$name"/{robot-rocket,robot-cli,LICENSE-*,THIRD-PARTY-LICENCES} / >/dev/null
# 65532 is the usual user of images without a system.
buildah copy --quiet --chown 65532:65532 "$container" "$work/data" /data >/dev/null
# Temporary files of SQLite are in the volume, because all else is read-only.
buildah config --user 65532:65532 --workingdir /data --volume /data --port 8000 --stop-signal SIGTERM \
    --entrypoint '["/robot-rocket"]' \
    --env PATH=/ --env TMPDIR=/data --env ROCKET_ADDRESS=0.0.0.0 \
    --env DATABASE_URL=sqlite:///data/robots.db \
    --label "org.opencontainers.image.title=robot-catalogue" \
    --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.licenses=MIT OR Apache-2.0" "$container"
rm -f "$image"
buildah commit --quiet --format oci --timestamp "$created" "$container" \
    "oci-archive:$image:robot-catalogue:$version" >/dev/null
chown --reference "$out" "$image"
