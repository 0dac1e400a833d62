#!/usr/bin/env bash
# Calls a server as its description permits, and as it does not, and checks every reply: with
# schemathesis, for behaviours A and B.
#
#   run.sh SERVER TOOLS [OPTION...]   SERVER: the program; TOOLS: the folder for schemathesis, which is
#                                     installed there unless it is; options of `schemathesis run`
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
server=$(realpath "$1") tools=$(realpath --canonicalize-missing "$2")
shift 2

environment=$tools/schemathesis
if ! cmp --silent "$here/requirements.txt" "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$environment"
fi

temporary=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$temporary"' EXIT

# Checks a server with the behaviour $1.
check() {
    local behaviour=$1 output=$temporary/$1 address=
    shift
    for _ in {1..100}; do
        address=$(sed -n 's/^Robots at \(http[^ ]*\)v1\/robots .*/\1/p' "$output.server")
        [ -z "$address" ] || break
        sleep 0.1
    done
    if [ -z "$address" ]; then
        { echo "The server has not started:" && cat "$output.server"; } >"$output"
        return 1
    fi
    # It keeps failures in the current folder, and would repeat them.
    (cd "$temporary" && mkdir "$behaviour.kept" && cd "$behaviour.kept" &&
        PYTHONDONTWRITEBYTECODE=1 SCHEMATHESIS_HOOKS=$here/hooks.py \
            "$environment/bin/schemathesis" run --no-color "$@" "${address}openapi.json") >"$output" 2>&1
}

checks=()
for behaviour in A B; do
    # The shell may read the file before the server's process creates it.
    touch "$temporary/$behaviour.server"
    ROCKET_BEHAVIOUR=$behaviour ROCKET_PORT=0 DATABASE_URL=memory: \
        "$server" >"$temporary/$behaviour.server" 2>&1 &
    servers+=($!)
    check "$behaviour" "$@" &
    checks+=($!)
done
status=0
for index in 0 1; do
    wait "${checks[index]}" || status=$?
    behaviour=$([ "$index" = 0 ] && echo A || echo B)
    if [ "$status" != 0 ]; then
        cat "$temporary/$behaviour"
        echo "Behaviour $behaviour: schemathesis found failures, see above." >&2
        exit "$status"
    fi
    sed -n '/^Test cases:/,$p' "$temporary/$behaviour"
done
