#!/usr/bin/env bash
# Checks of the project, on a machine that has Rust:
#
#   ./test.sh           everything that CI requires, with all features
#   ./test.sh quick     the inner loop: format, lints, unit and conformance tests over memory and SQLite
#   ./test.sh release   everything, and checks that only a release needs: licences and advisories, every
#                       combination of features, the earliest Rust, compatibility, packages for users
#                       (built in target/packages), the procedures of the operations documents, reverse
#                       proxies, long runs of the fuzz, model and fault tests, clusters
#   ./test.sh cluster   a Galera cluster, a PostgreSQL standby and a Patroni cluster, of which nodes are
#                       killed and suspended
#
# All modes but 'quick' start PostgreSQL and MariaDB in a temporary folder. Missing Debian packages
# are installed, as root or with sudo; each installation is announced. The script stops at the first
# check that fails, and leaves nothing running.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

fail() {
    printf '\n%s\n' "$*" >&2
    exit 1
}

# Reports that the check $1 cannot run here because of $2. The last line of the output repeats it.
not_checked=""
cannot_check() {
    step "NOT CHECKED: $1, because $2"
    not_checked+=", except $1"
}

# Installs the Debian package $2 unless the command or file $1 exists.
need() {
    if [[ $1 = */* ]]; then
        compgen -G "$1" >/dev/null && return
    else
        command -v "$1" >/dev/null && return
    fi
    step "Installing the Debian package $2, because '$1' is missing"
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    if ! command -v apt-get >/dev/null || { [ ${#root[@]} -gt 0 ] && ! command -v sudo >/dev/null; }; then
        fail "'$1' is missing, and this script can install it only on Debian, as root or with sudo. Install it and start again."
    fi
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" ||
        fail "The Debian package $2 could not be installed. Install '$1' and start again."
}

need_compiler() {
    command -v cargo >/dev/null || fail "cargo is missing. Install Rust (https://rustup.rs) and start again."
    local component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 ||
            fail "cargo $component is missing. Run 'rustup component add rustfmt clippy' and start again."
    done
    need cc gcc
    # The linker finds the C library's start files only with this package.
    need /usr/include/stdio.h libc6-dev
}

need_servers() {
    need '/usr/lib/postgresql/*/bin/postgres' postgresql
    need /usr/sbin/mariadbd mariadb-server
    need /usr/sbin/pgbouncer pgbouncer
}

need_clusters() {
    need rsync rsync
    need patroni patroni
    need etcd etcd-server
    need curl curl
}

need_test_programs() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || need '/usr/lib/python3*/ensurepip' python3-venv
    need strace strace
    need sqlite3 sqlite3
    need openssl openssl
    need curl curl
    need script bsdutils
    need groff groff-base
    need chromium chromium
    need chromedriver chromium-driver
}

need_npm() {
    # Debian's npm needs Debian's Node.js, and cannot be installed beside another one.
    ! command -v node >/dev/null || command -v npm >/dev/null ||
        fail "'npm' is missing beside $(command -v node). Install the npm of that Node.js and start again."
    need npm npm
}

need_release_programs() {
    need /usr/sbin/nginx nginx-light
    need /usr/sbin/haproxy haproxy
    need_npm
    need buildah buildah
    need dh debhelper
    need /usr/sbin/debootstrap debootstrap
    need git git
    need help2man help2man
    need ip iproute2
    need jq jq
    need lintian lintian
    need shellcheck shellcheck
    need systemd-analyze systemd
    need systemd-nspawn systemd-container
}

# Installs a program of crates.io in a fixed version, so that the result is the same everywhere, unless it
# is in the tools folder. An unoptimised build takes a minute or two once.
install_tool() {
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --root "$tools" "$1"
}

# Fails if the package $1 (with the features in $2) depends on any of the others. Dependencies of
# tests do not count.
must_not_depend() {
    local package=$1 features=$2 found
    shift 2
    found=$(cargo tree --quiet --locked --package "$package" --edges normal --features "$features" \
        --prefix none --format '{p}' | cut -d' ' -f1 | sort -u)
    found=$(grep -Fx "$(printf '%s\n' "$@")" <<<"$found" || true)
    [ -z "$found" ] || fail "$package must not depend on: $found"
}

# Fails unless the package $1, with all features, itself depends on the others (by an edge of the kind $2).
must_depend() {
    local package=$1 kind=$2 found name
    shift 2
    found=$(cargo tree --quiet --locked --package "$package" --all-features --edges "$kind" --depth 1 --prefix none \
        --format '{p}' | cut -d' ' -f1)
    for name; do
        grep -Fqx "$name" <<<"$found" || fail "$package must depend on $name, which the owner's card names."
    done
}

# Fails if the package robot-core with the features $1 and its dependencies are more than $2 packages.
must_have_at_most() {
    local count
    count=$(cargo tree --quiet --locked --package robot-core --edges normal --no-default-features --features "$1" \
        --prefix none --format '{p}' | cut -d' ' -f1 | sort -u | wc -l)
    [ "$count" -le "$2" ] || fail "robot-core with the features '$1' needs $count packages, more than $2."
}

# Checks that need no build.
check_sources() {
    step "Format"
    cargo fmt --all --check

    step "Packages of the owner's card"
    must_depend robot-core normal serde serde_json thiserror diesel diesel_migrations r2d2
    must_depend robot-rocket normal rocket
    must_depend robot-core dev criterion

    step "Dependencies point one way"
    must_not_depend robot-core http,sqlite tokio
    must_not_depend robot-core sqlite,conformance tokio
    must_not_depend robot-core http,sqlite,postgres,mysql rocket axum actix-web hyper clap robot-rocket robot-cli
    must_not_depend robot-core sqlite,postgres,mysql,conformance rocket axum actix-web hyper robot-rocket robot-cli
    must_not_depend robot-cli sqlite,postgres,mysql rocket axum hyper robot-rocket
    must_not_depend robot-rocket sqlite,postgres,mysql robot-cli axum
    must_have_at_most "" 35
    must_have_at_most sqlite 70
    ! grep -rnE '\b(rocket|axum|actix)::' robot-core/src || fail "robot-core must not name a web framework."
    if command -v python3 >/dev/null; then
        python3 .ci/circles.py robot-core/src robot-rocket/src robot-cli/src || fail "Move what one file needs of the other."
    else
        cannot_check "circles of imports" "there is no python3"
    fi
}

# The default features without the database servers, whose tests need a server.
check_quickly() {
    local features=robot-rocket/server,robot-rocket/sqlite,robot-cli/sqlite
    check_sources

    step "Lints"
    cargo clippy --locked --workspace --all-targets --no-default-features --features "$features" -- --deny warnings

    step "Unit and conformance tests"
    # The other examples have the same cases; the full run tests them.
    cargo test --locked --workspace --exclude axum-frontend --exclude rocket-app --no-default-features \
        --features "$features" --lib --bins --test conformance
}

# Lints the library $1 with each of the other arguments as its only features.
lint_features() {
    local package=$1 features
    shift
    for features in "$@"; do
        cargo clippy --locked --package "$package" --lib --no-default-features --features "$features" -- --deny warnings
    done
}

start_servers() {
    step "PostgreSQL and MariaDB start, in $temporary"
    TEST_POSTGRES_URL=$(robot-core/tests/servers.sh start postgres "$temporary/postgres")
    TEST_MYSQL_URL=$(robot-core/tests/servers.sh start mariadb "$temporary/mariadb")
    export TEST_POSTGRES_URL TEST_MYSQL_URL
}

# Downloads axe-core, which finds accessibility problems of a page, into the folder $1 unless it is
# there: one version of the npm package, verified by its checksum.
fetch_axe_core() {
    local package=axe-core-4.14.1 sum
    sum=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
    mkdir -p "$1"
    [ -f "$1/$package.tgz" ] || need_npm
    [ -f "$1/$package.tgz" ] || (cd "$1" && npm pack --silent "${package/-4/@4}" >/dev/null) ||
        fail "axe-core could not be downloaded. Put the file that 'npm pack ${package/-4/@4}' creates into $1 and start again."
    [ "$(openssl dgst -sha512 -binary "$1/$package.tgz" | base64 --wrap=0)" = "$sum" ] ||
        fail "$1/$package.tgz is not the published file. Remove it and start again."
    tar --extract --gzip --file "$1/$package.tgz" --directory "$1" --strip-components=1 package/axe.min.js
}

lint_everything() {
    step "Lints, all features"
    cargo clippy --locked --workspace --all-targets --all-features -- --deny warnings
    # "All targets" does not include tests that run only on request.
    cargo clippy --locked --workspace --all-features --test page --test cluster -- --deny warnings

    step "Lints, default features"
    # Without tests: their dependencies would add the feature 'conformance' to robot-core.
    cargo clippy --locked --workspace --lib --bins -- --deny warnings

    step "Documentation"
    RUSTDOCFLAGS="--deny warnings" cargo doc --locked --workspace --all-features --no-deps
}

# Starts checks beside the tests, which mostly wait: with a low priority, and a little later, because cargo locks the
# target folder until the tests run. As a process group, so that the end of the script can end them.
start_beside() {
    step "Lints and requests by schemathesis start; their output follows after the tests"
    set -m
    (
        renice -n 10 "$BASHPID" >/dev/null
        sleep 10
        lint_everything
        step "Requests that the description of the API permits, and others"
        robot-rocket/tests/schemathesis/run.sh "$target/debug/robot-rocket" "$tools" --max-examples 10 --seed 19
    ) >"$temporary/beside" 2>&1 &
    beside=$!
    set +m
}

# Waits for the checks that run beside the tests, and shows their output.
finish_beside() {
    local status=0
    wait "$beside" || status=$?
    beside=
    cat "$temporary/beside"
    [ "$status" -eq 0 ] || fail "A check that ran beside the tests failed; its output is above."
}

# Fails if a program in the folder $1 needs a shared library beside those of the C library and the compiler.
check_libraries() {
    local program found
    for program in robot-rocket robot-cli; do
        found=$(ldd "$1/$program" | awk '{ print $1 }' |
            grep -vE '^(linux-vdso|libc|libm|libgcc_s|/lib.*/ld-linux-.*)\.so\.[0-9]+$' || true)
        [ -z "$found" ] ||
            fail "$1/$program needs the libraries $found, which users would have to install: use crates without them."
    done
}

# The quick checks and all others, with all features. Every command of a folder names the whole workspace with all
# features, even for a single test: with other features or packages, cargo would build the dependencies again.
check_everything() {
    check_sources
    start_servers

    step "Build of the tests"
    cargo test --locked --workspace --all-features --no-run
    start_beside

    step "Tests, all features"
    # Some of the tests have a harness of their own, which reads no variable.
    cargo test --locked --workspace --all-features -- --test-threads="$RUST_TEST_THREADS"

    step "Shared libraries of the programs"
    check_libraries "$target/debug"

    step "The web page in a browser"
    fetch_axe_core "$tools/axe-core"
    # One test keeps a core busy.
    AXE_CORE="$tools/axe-core/axe.min.js" RUST_TEST_THREADS=$(nproc) \
        cargo test --locked --workspace --all-features --test page

    finish_beside
}

# Fails if an advisory exists for a dependency; reports it if the advisories cannot be downloaded.
check_advisories() {
    if timeout 120 cargo deny fetch db; then
        cargo deny --frozen check advisories
    else
        cannot_check advisories "https://github.com/RustSec/advisory-db could not be downloaded"
    fi
}

# Builds the crates from the files that they would publish, with the oldest Rust that they promise.
check_crates() {
    local rust compiler=rustc
    rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    if timeout 300 rustup toolchain install --no-self-update --profile minimal "$rust"; then
        compiler=$(rustup which --toolchain "$rust" rustc)
        rustup run "$rust" cargo fetch --locked
    else
        cannot_check "the build with Rust $rust" "'rustup toolchain install $rust' fails"
    fi
    step "Crates build from their own files, with $("$compiler" --version)"
    # In a folder of its own: cargo considers a package with the same version unchanged.
    RUSTC=$compiler cargo package --locked --workspace --all-features --allow-dirty --quiet --target-dir "$temporary/crates"
}

# Fails if the libraries are incompatible with the last release, and the version does not say so.
check_compatibility() {
    local tag
    if tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
        step "Compatibility with $tag"
        install_tool cargo-semver-checks@0.51.0
        cargo semver-checks --baseline-rev "$tag" --package robot-core --package robot-rocket --all-features
    else
        cannot_check "compatibility with the last release" "this checkout has no tag of one (v0.1.0)"
    fi
}

# Builds what users install, and tests that they can.
check_packages() {
    local scripts=robot-rocket/deploy/packages
    shellcheck test.sh robot-rocket/deploy/*/*.sh robot-rocket/tests/*/run.sh

    step "Packages for users are built, in $packages"
    install_tool cargo-auditable@0.7.7
    install_tool auditable2cdx@0.1.0
    "$scripts/build.sh" "$packages"
    "${root[@]}" "$scripts/build-image.sh" "$packages"

    step "Lists of libraries in the packages"
    "$scripts/test-sbom.sh" "$packages"
    step "The Debian package in a new system"
    "${root[@]}" "$scripts/test-deb.sh" "$packages" "$tools/debian" || {
        [ $? -eq 77 ] || fail "The test of the Debian package failed."
        cannot_check "the service with the restrictions of its unit" "systemd does not boot in a container here"
    }
    step "The tarball in an empty directory"
    "${root[@]}" "$scripts/test-tarball.sh" "$packages"
    step "The image, unpacked"
    "${root[@]}" "$scripts/test-image.sh" "$packages"
}

# Follows the procedures of the operations documents, with the programs in the packages.
check_walks() {
    local walks=robot-rocket/deploy/walks previous=$tools/previous-version programs name names=(move rotate incident)
    programs=$(realpath "$packages/../release")
    step "Walk: install"
    "${root[@]}" "$walks/install.sh" "$packages"
    if git describe --tags --match 'v[0-9]*' >/dev/null 2>&1; then
        step "The last release is built, in $previous"
        "$walks/build-previous.sh" "$previous"
        names+=(upgrade roll-back)
    else
        cannot_check "the walks 'upgrade' and 'roll-back'" "this checkout has no tag of a release (v0.1.0)"
    fi
    for name in "${names[@]}"; do
        step "Walk: $name"
        "${root[@]}" "$walks/$name.sh" "$programs" "$previous"
    done
}

# Downloads promtool, which checks rules of Prometheus, into the folder $1 unless it is there. The Debian
# package is not installed, because it would start a server.
fetch_promtool() {
    mkdir -p "$1"
    [ -x "$1/usr/bin/promtool" ] || (cd "$1" && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb .) ||
        fail "promtool could not be downloaded. Put it into $1/usr/bin and start again."
}

check_release() {
    step "Alert rules"
    fetch_promtool "$tools/prometheus"
    "$tools/prometheus/usr/bin/promtool" check rules robot-rocket/deploy/prometheus-alerts.yml
    "$tools/prometheus/usr/bin/promtool" test rules robot-rocket/deploy/prometheus-alerts-test.yml

    step "Licences, sources, duplicates and advisories of all dependencies"
    install_tool cargo-deny@0.20.2
    cargo deny --locked check licenses sources bans
    check_advisories

    step "Each feature alone, and combinations"
    lint_features robot-core "" transfer http sqlite postgres mysql conformance sqlite,postgres sqlite,mysql postgres,mysql
    lint_features robot-rocket "" server server,otlp sqlite postgres mysql otlp
    local features
    for features in "" sqlite postgres mysql; do
        cargo clippy --locked --package robot-cli --no-default-features --features "$features" -- --deny warnings
    done

    step "Tests, no features"
    cargo test --locked --package robot-core --no-default-features --lib --test conformance
    cargo test --locked --package robot-core --no-default-features --doc
    # The same conformance cases as with all features.
    cargo test --locked --package robot-rocket --no-default-features --lib --test mounting --test serving
    cargo test --locked --package robot-cli --no-default-features
    # The other tests do not depend on features, but must compile without them.
    cargo test --locked --package robot-core --no-default-features --no-run
    cargo test --locked --package robot-rocket --no-default-features --no-run
    RUSTDOCFLAGS="--deny warnings" cargo doc --locked --package robot-core --no-default-features --no-deps

    step "Tests, without OpenTelemetry"
    cargo test --locked --package robot-rocket --test server traces_without_feature

    step "Reverse proxies"
    cargo test --locked --workspace --all-features --test server proxies -- --ignored

    step "Benchmarks run (not timed)"
    cargo test --locked --workspace --all-features --bench stores --bench http
    cargo test --locked --workspace --all-features --bench filters -- 1000

    check_crates
    check_compatibility
    packages=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}/packages")
    root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    check_packages
    check_walks

    step "Clients that are generated from the description of the API"
    robot-rocket/tests/clients/run.sh "$target/release/robot-rocket" "$tools"
    step "Many requests that the description of the API permits, and others"
    robot-rocket/tests/schemathesis/run.sh "$target/release/robot-rocket" "$tools" --max-examples 200

    step "Long fault run"
    cargo test --locked --workspace --all-features --test faults -- --seconds 15

    # Optimized, but built quickly.
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
    step "Long fuzz run"
    PROPTEST_CASES=20000 cargo test --locked --workspace --all-features --release --test fuzz
    step "Long comparison of the stores with their model"
    PROPTEST_CASES=400 cargo test --locked --workspace --all-features --release --test stores behave

    step "The web page with a million robots"
    PAGE_ROBOTS=1000000 AXE_CORE="$tools/axe-core/axe.min.js" \
        cargo test --locked --workspace --all-features --release --test page large_catalogue
}

check_clusters() {
    step "Clusters lose a node"
    cargo test --locked --workspace --all-features --test cluster -- --nocapture
}

mode=${1:-all}
[[ $# -le 1 && $mode =~ ^(all|quick|release|cluster)$ ]] ||
    fail "'$*' is not a mode. Usage: ./test.sh [quick|release|cluster]"

need_compiler
if [ "$mode" = quick ]; then
    check_quickly
    step "The quick checks passed"
    exit
fi
need_servers
need_test_programs
[ "$mode" = all ] || need_clusters
[ "$mode" != release ] || need_release_programs

# A cold start builds everything once, so incremental builds and debug information only cost time. With debug
# information, cargo would also build some dependencies again for a command that selects a single test.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
# Most tests wait for a server or a time limit: with two for each core, they take a fifth less time. With more,
# tests of full load disturb each other.
export RUST_TEST_THREADS=$((2 * $(nproc)))
target=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
tools=$target/tools
export PATH="$tools/bin:$PATH"

# Stops the servers and the checks beside the tests, and removes their files, however the script ends.
temporary=$(mktemp -d)
beside=
trap '[ -z "$beside" ] || kill -- "-$beside" 2>/dev/null || true; robot-core/tests/servers.sh stop "$temporary"; rm -rf "$temporary"' EXIT
export SERVERS_OWNER=$$

case $mode in
all)
    check_everything
    ;;
release)
    check_everything
    check_release
    check_clusters
    ;;
cluster)
    check_clusters
    ;;
esac

step "All checks passed$not_checked"
