#!/usr/bin/env bash
# Builds the programs of the last release, from which the walks upgrade, as FOLDER/robot-rocket and
# FOLDER/robot-cli:
#
#   robot-rocket/deploy/walks/build-previous.sh FOLDER
#
# Builds nothing if the folder has its programs. Needs git and the history of the checkout.
set -euo pipefail
out=$(realpath --canonicalize-missing "$1")
cd "$(dirname "$0")/../../.."
tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*')
commit=$(git rev-parse --verify --quiet "$tag^{commit}")
[ "$(cat "$out/commit" 2>/dev/null)" != "$commit" ] || exit 0

rm -rf "$out"
mkdir -p "$out/source"
trap 'rm -rf "$out/source" "$out/target"' EXIT
git archive "$commit" | tar --extract --directory "$out/source"
cd "$out/source"
CARGO_TARGET_DIR=$out/target CARGO_PROFILE_DEV_DEBUG=0 RUSTFLAGS='--allow warnings' cargo build --quiet --locked \
    --package robot-rocket --package robot-cli --all-features
cp "$out/target/debug/robot-rocket" "$out/target/debug/robot-cli" "$out"
echo "$commit" >"$out/commit"
