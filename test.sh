#!/usr/bin/env bash
# Every check of the project, on a machine that has Rust:
#
#   ./test.sh           all but the next
#   ./test.sh cluster   a cluster of MariaDB and a standby of PostgreSQL, of which nodes are killed
#
# Debian packages that are missing are installed (as root, or by sudo). The script says what
# it does, stops at the first check that fails, and leaves nothing running.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

fail() {
    printf '\n%s\n' "$*" >&2
    exit 1
}

# Installs the Debian package $2 unless the command or file $1 is there.
need() {
    if [[ $1 = */* ]]; then
        compgen -G "$1" >/dev/null && return
    else
        command -v "$1" >/dev/null && return
    fi
    step "Installing $2, for '$1' is missing"
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    if ! command -v apt-get >/dev/null || { [ ${#root[@]} -gt 0 ] && ! command -v sudo >/dev/null; }; then
        fail "'$1' is missing, and this script can install it only on Debian, as root or with sudo. Install it and start again."
    fi
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" ||
        fail "Debian's package $2 could not be installed. Install '$1' and start again."
}

# Fails if the package $1 (with the features in $2) depends on any of the others, tests aside.
must_not_depend() {
    local package=$1 features=$2 found
    shift 2
    found=$(cargo tree --quiet --locked --package "$package" --edges normal --features "$features" \
        --prefix none --format '{p}' | cut -d' ' -f1 | sort -u)
    found=$(grep -Fx "$(printf '%s\n' "$@")" <<<"$found" || true)
    [ -z "$found" ] || fail "$package must not depend on: $found"
}

# Fails unless the README's table tells how many crates each package is built from, tests aside.
counts_are_true() {
    local package features told counted rows
    rows=$(sed -nE 's/^\| `(robot-[a-z]+)` \| (none|`([a-z,]+)`)[^|]*\| ([0-9]+) \|$/\1;\3;\4/p' README.md)
    [ -n "$rows" ] || fail "README.md no longer has the table of dependencies."
    while IFS=';' read -r package features told; do
        counted=$(cargo tree --quiet --locked --package "$package" --no-default-features \
            --features "$features" --edges normal --prefix none --format '{p}' |
            cut -d' ' -f1,2 | sort -u | grep -vc '^robot-')
        [ "$told" = "$counted" ] ||
            fail "README.md: $package (${features:-none}) has $told dependencies, cargo tree counts $counted."
    done <<<"$rows"
}

# Fails if there is an advisory against a crate, and says so if the advisories cannot be had.
advisories_are_none() {
    if timeout 120 cargo deny fetch db; then
        cargo deny --frozen check advisories
    else
        not_checked=", but for advisories, which could not be fetched"
        step "NOT CHECKED: advisories could not be fetched from https://github.com/RustSec/advisory-db"
    fi
}

# Fetches axe-core, which finds what keeps people out of a page, into the folder $1 unless it is
# there: a fixed version of the npm package, to the byte.
fetch_axe_core() {
    local package=axe-core-4.14.1 sum
    sum=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
    mkdir -p "$1"
    [ -f "$1/$package.tgz" ] || (cd "$1" && npm pack --silent "${package/-4/@4}" >/dev/null) ||
        fail "axe-core could not be fetched. Put what 'npm pack ${package/-4/@4}' fetches into $1 and start again."
    [ "$(openssl dgst -sha512 -binary "$1/$package.tgz" | base64 --wrap=0)" = "$sum" ] ||
        fail "$1/$package.tgz is not what was published under this name. Remove it and start again."
    tar --extract --gzip --file "$1/$package.tgz" --directory "$1" --strip-components=1 package/axe.min.js
}

[[ $# -eq 0 || "$*" = cluster ]] || fail "'$*' is not known. Usage: ./test.sh [cluster]"
command -v cargo >/dev/null || fail "cargo is missing. Install Rust (https://rustup.rs) and start again."
for component in fmt clippy; do
    cargo "$component" --version >/dev/null 2>&1 ||
        fail "cargo $component is missing. Run 'rustup component add rustfmt clippy' and start again."
done
need cc gcc
# The linker finds the C library's start files only with this package.
need /usr/include/stdio.h libc6-dev
need pkg-config pkg-config
need '/usr/include/*/libpq-fe.h' libpq-dev
need '/usr/include/*/mysql.h' libmariadb-dev
need '/usr/lib/postgresql/*/bin/postgres' postgresql
need /usr/sbin/mariadbd mariadb-server
need rsync rsync
need strace strace
need openssl openssl
need curl curl
need /usr/sbin/nginx nginx-light
need /usr/sbin/haproxy haproxy
need script bsdutils
need groff groff-base
need chromium chromium
need chromedriver chromium-driver
need npm npm

# Whatever happens, nothing stays behind.
temporary=$(mktemp -d)
trap 'robot-core/tests/servers.sh stop "$temporary"; rm -rf "$temporary"' EXIT
export SERVERS_OWNER=$$

if [ "${1:-}" = cluster ]; then
    step "Clusters lose a node"
    cargo test --locked --package robot-rocket --features postgres,mysql --test cluster -- --nocapture
    step "Nothing that was acknowledged was lost"
    exit
fi

step "Format"
cargo fmt --all --check

step "Dependencies point one way"
must_not_depend robot-core sqlite,postgres,mysql rocket axum actix-web hyper tokio clap robot-rocket robot-cli
must_not_depend robot-core sqlite,postgres,mysql,conformance rocket axum actix-web hyper tokio robot-rocket robot-cli
must_not_depend robot-cli sqlite,postgres,mysql rocket axum hyper tokio robot-rocket
must_not_depend robot-rocket sqlite,postgres,mysql robot-cli axum
! grep -rnE '\b(rocket|axum|actix)::' robot-core/src || fail "robot-core must not name a web framework."

counts_are_true

step "Licences, sources, duplicates and advisories of all dependencies"
# Of a fixed version, so that it judges alike everywhere, and in the target folder, so that it
# goes with it. Built without optimisation: 80 seconds once, and a check takes a few all the same.
tools=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}/tools")
export PATH="$tools/bin:$PATH"
CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --root "$tools" cargo-deny@0.20.2
cargo deny --locked check licenses sources bans
advisories_are_none

step "Lints, all features"
cargo clippy --locked --workspace --all-targets --all-features -- --deny warnings
# These run only where they are asked for, and are no part of "all targets".
cargo clippy --locked --package robot-rocket --all-features --test page --test cluster -- --deny warnings

step "Each feature alone"
for features in "" sqlite postgres mysql sqlite,postgres sqlite,mysql postgres,mysql conformance; do
    cargo clippy --locked --package robot-core --no-default-features --features "$features" -- --deny warnings
done
for features in "" server sqlite postgres mysql; do
    cargo clippy --locked --package robot-rocket --no-default-features --features "$features" -- --deny warnings
done
for features in "" sqlite postgres mysql; do
    cargo clippy --locked --package robot-cli --no-default-features --features "$features" -- --deny warnings
done

step "PostgreSQL and MariaDB start, in $temporary"
TEST_POSTGRES_URL=$(robot-core/tests/servers.sh start postgres "$temporary/postgres")
TEST_MYSQL_URL=$(robot-core/tests/servers.sh start mariadb "$temporary/mariadb")
export TEST_POSTGRES_URL TEST_MYSQL_URL

step "Tests, all features"
cargo test --locked --workspace --all-features

step "The web page in a browser"
fetch_axe_core "$tools/axe-core"
AXE_CORE="$tools/axe-core/axe.min.js" cargo test --locked --package robot-rocket --all-features --test page

step "Tests, no features"
for package in robot-core robot-rocket robot-cli; do
    cargo test --locked --package "$package" --no-default-features
done

step "Benchmarks run (once each, not timed)"
cargo test --locked --package robot-core --benches

step "Documentation"
RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --all-features --no-deps
RUSTDOCFLAGS="--deny warnings" cargo doc --locked --package robot-core --no-default-features --no-deps

step "Packages build from what they contain"
# In a folder of its own, because cargo takes a package for unchanged whose version is.
cargo package --locked --workspace --allow-dirty --quiet --target-dir "$temporary/packages"

step "All checks passed${not_checked:-}"
