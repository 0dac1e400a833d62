#!/usr/bin/env bash
# Generates a TypeScript and a Rust client from the description of a server, and calls each kind of
# operation with them.
#
#   run.sh SERVER TOOLS   SERVER: the program; TOOLS: the folder for the generators
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
server=$(realpath "$1") tools=$(realpath --canonicalize-missing "$2/clients")
mkdir -p "$tools"
cp --recursive "$here/typescript" "$here/rust" "$tools"

temporary=$(mktemp -d)
pid=
stop() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    pid=
}
trap 'stop; rm -rf "$temporary"' EXIT

# Starts an empty server, and sets `address`.
start() {
    stop
    ROCKET_PORT=0 DATABASE_URL=memory: "$server" >"$temporary/log" 2>&1 &
    pid=$!
    for _ in {1..100}; do
        address=$(sed -n 's/^Robots at \(http[^ ]*\)\/v1\/robots .*/\1/p' "$temporary/log")
        [ -z "$address" ] || return 0
        sleep 0.1
    done
    cat "$temporary/log" >&2
    return 1
}

start
curl --silent --show-error --fail --output "$temporary/openapi.json" "$address/openapi.json"

cd "$tools/typescript"
npm ci --silent --no-audit --no-fund
npx openapi-typescript "$temporary/openapi.json" --output openapi.d.ts >/dev/null
npx tsc --project .
node built/client.js "$address"
echo "The TypeScript client works."

start
cd "$tools/rust"
node simplify.mjs <"$temporary/openapi.json" >openapi.json
cargo run --quiet --locked -- "$address"
echo "The Rust client works."
