#!/usr/bin/env bash
# Builds the Debian package and the tarball of static programs into a folder, each with the list of its
# libraries (SBOM):
#
#   robot-rocket/deploy/packages/build.sh FOLDER
#
# Needs cargo-auditable, auditable2cdx, and the Debian packages debhelper, help2man, jq and perl. The last
# commit determines the dates, so that the same programs give the same packages.
set -euo pipefail
umask 022
# The order of sorted names is the same everywhere.
export LC_ALL=C
out=$(realpath --canonicalize-missing "$1")
packages=$(realpath "$(dirname "$0")")
cd "$packages/../../.."

version=$(cargo metadata --locked --no-deps --format-version 1 |
    jq --raw-output '.packages[] | select(.name == "robot-rocket").version')
architecture=$(dpkg --print-architecture)
host=$(rustc --version --verbose | sed -n 's/^host: //p')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
target=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
tarball=robot-catalogue-$version-${host%%-*}-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds both programs for release; the arguments are further ones of cargo.
build_programs() {
    cargo auditable build --quiet --locked --release --package robot-rocket --package robot-cli "$@"
}

# Texts of the licences of all libraries, each once with the libraries that have it.
third_party_licences() {
    local crates crate folder file sum
    mkdir "$work/licences"
    crates=$(cargo tree --quiet --locked --package robot-rocket --package robot-cli --all-features \
        --target "$host" --edges normal --prefix none --no-dedupe --format '{p}' |
        awk '!/ \(\// { sub("^v", "", $2); print $1 "@" $2 }' | sort --unique)
    cargo metadata --locked --format-version 1 --filter-platform "$host" |
        jq --raw-output '.packages[] | [.name + "@" + .version, .manifest_path, .license] | @tsv' |
        sort | join -t $'\t' <(echo "$crates") - >"$work/crates"
    while IFS=$'\t' read -r crate folder license; do
        printf '%s: %s\n' "$crate" "$license"
        while read -r file; do
            sum=$(sha256sum "$file" | cut -d' ' -f1)
            [ -f "$work/licences/$sum" ] || cp "$file" "$work/licences/$sum"
            echo "$crate" >>"$work/licences/$sum.crates"
        done < <(find "$(dirname "$folder")" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|copyright\)[^/]*')
    done <"$work/crates"
    for file in "$work"/licences/*.crates; do
        printf '\n==== %s\n\n' "$(sort --unique "$file" | paste --serial --delimiters ' ')"
        cat "${file%.crates}"
    done
}

# The documents and examples of both packages, as PATH=NAME: the names are those in their folder docs.
documents="README.md=README.md
CHANGELOG.md=CHANGELOG.md
robot-cli/README.md=robot-cli.md
robot-core/README.md=robot-core.md
robot-core/docs/contract.md=contract.md
robot-core/docs/stores.md=stores.md
robot-rocket/README.md=robot-rocket.md
robot-rocket/docs/guarantees.md=guarantees.md
robot-rocket/docs/http-api.md=http-api.md
robot-rocket/docs/operations/cluster.md=cluster.md
robot-rocket/docs/operations/configure.md=configure.md
robot-rocket/docs/operations/install.md=install.md
robot-rocket/docs/operations/monitor.md=monitor.md
robot-rocket/docs/operations/recover.md=recover.md
robot-rocket/docs/operations/secure.md=secure.md
robot-rocket/docs/page.png=page.png
robot-rocket/docs/performance.md=performance.md
robot-rocket/deploy/grafana-dashboard.json=examples/grafana-dashboard.json
robot-rocket/deploy/haproxy.cfg=examples/haproxy.cfg
robot-rocket/deploy/nginx.conf=examples/nginx.conf
robot-rocket/deploy/prometheus-alerts.yml=examples/prometheus-alerts.yml"

# Writes the documents into the folder $1. Links to other files of the checkout become text.
add_documents() {
    local path name
    mkdir -p "$1/examples"
    while IFS='=' read -r path name; do
        cp "$path" "$1/$name"
        # shellcheck disable=SC2016 # These are variables of Perl.
        [[ $name != *.md ]] || FOLDER=$(dirname "$path") DOCUMENTS=$documents perl -0777 -i -pe '
            BEGIN { %names = map { split /=/ } split /\n/, $ENV{DOCUMENTS} }
            s{\[([^]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)}{
                my ($text, $path, $anchor) = ($1, "$ENV{FOLDER}/$2", $3 // "");
                $path =~ s{^\./}{};
                1 while $path =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
                exists $names{$path} ? "[$text]($names{$path}$anchor)" : $text
            }ge' "$1/$name"
    done <<<"$documents"
}

# Files that both packages have, into the folder $1. The programs there describe themselves.
add_files() {
    local folder=$1
    mkdir "$folder/man" "$folder/completions"
    cp robot-rocket/deploy/*.{service,timer,sysusers,env} CHANGELOG.md LICENSE-* "$folder"
    add_documents "$folder/docs"
    cp "$work/THIRD-PARTY-LICENCES" "$folder"
    help2man --no-info --section 8 --name 'REST server of the Robot Catalogue' \
        --manual 'Robot Catalogue' --output "$folder/man/robot-rocket.8" "$folder/programs/robot-rocket"
    "$folder/programs/robot-cli" manual "$folder/man" >/dev/null
    "$folder/programs/robot-cli" completions bash >"$folder/completions/robot-cli"
    "$folder/programs/robot-cli" completions zsh >"$folder/completions/_robot-cli"
    "$folder/programs/robot-cli" completions fish >"$folder/completions/robot-cli.fish"
}

# The libraries of both programs in the folder $1, in the CycloneDX format, as $2-PROGRAM.cdx.json.
write_sbom() {
    local program
    for program in robot-rocket robot-cli; do
        auditable2cdx "$1/$program" >"$out/$2-$program.cdx.json"
    done
}

build_debian_package() {
    local folder=$work/debian/robot-catalogue maintainer
    mkdir -p "$folder/programs"
    cp "$target/release/robot-rocket" "$target/release/robot-cli" "$folder/programs"
    write_sbom "$folder/programs" "robot-catalogue_$version-1_$architecture"
    add_files "$folder"
    cp -r "$packages/debian" "$folder"
    cp "$folder/robot-rocket.sysusers" "$folder/debian/robot-catalogue.sysusers"
    maintainer=$(git log -1 --format='%an <%ae>')
    # 1.0.0-rc.1 is older than 1.0.0 for Debian only as 1.0.0~rc.1.
    sed -i "s|@MAINTAINER@|$maintainer|; s|@VERSION@|${version//-/\~}|
        s|@DATE@|$(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")|" "$folder"/debian/{control,changelog}
    # The lines of the licence are indented, and empty ones have a dot.
    sed '1,/^Copyright/d' LICENSE-MIT | sed '1{/^$/d}; s/^$/./; s/^/ /' >"$work/mit"
    sed -i "/@MIT@/{
        r $work/mit
        d
    }; s|@COPYRIGHT@|Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE-MIT)|" "$folder/debian/copyright"
    (cd "$folder" && dpkg-buildpackage --build=binary --no-sign >"$work/log" 2>&1) || {
        cat "$work/log" >&2
        return 1
    }
    cp "$work"/debian/*.deb "$out"
}

build_tarball() {
    local folder=$work/$tarball
    mkdir -p "$folder/programs"
    cp "$target/$host/release/robot-rocket" "$target/$host/release/robot-cli" "$folder/programs"
    strip "$folder"/programs/*
    write_sbom "$folder/programs" "$tarball"
    add_files "$folder"
    mv "$folder"/programs/* "$folder"
    rmdir "$folder/programs"
    tar --create --directory "$work" --sort name --format gnu --owner 0 --group 0 --numeric-owner \
        --mode go-w --mtime "@$SOURCE_DATE_EPOCH" "$tarball" | gzip --no-name --best >"$out/$tarball.tar.gz"
}

mkdir -p "$out"
# Packages of other versions, which the tests would take. The folder may be one of the user.
rm -f "$out"/robot-catalogue[-_]*
third_party_licences >"$work/THIRD-PARTY-LICENCES"
build_programs
build_debian_package
# Statically linked with Debian's C library: with musl, lists are three times slower. It finds names of database servers
# in /etc/hosts and the DNS. For other sources in /etc/nsswitch.conf, it loads those of the machine's C library, which
# must have the same version.
# The slower optimization makes them a tenth smaller, so that the image stays below 35 MB.
RUSTFLAGS='-C target-feature=+crt-static' CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
    build_programs --target "$host"
build_tarball
