#!/usr/bin/env bash
# Makes databases as a release writes them, before the first migration after it:
#
#   cargo build --workspace --all-features --bin robot-cli
#   robot-core/tests/stores/databases/make.sh target/debug/robot-cli 0.1.0
#
# The version becomes the name of the folder. It gets an SQLite file
# with its search index, dumps of PostgreSQL and MariaDB, and the robots that all of them contain.
# Requires sqlite3 and the clients of both servers. The servers are private, and are stopped at the
# end.
set -euo pipefail
cli=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
target=$here/$2
servers=$here/../../servers.sh
temporary=$(mktemp -d)
trap '"$servers" stop "$temporary"; rm -rf "$temporary"' EXIT
mkdir "$target"

# Names that stores might confuse, and both ends of the years.
records() {
    cat <<'NDJSON'
{"name":"R2-D2","type":"droid","year":1977}
{"name":"r2-d2","type":"mechanical","year":0}
{"name":"x","type":"droid","year":9223372036854775807}
{"name":"x ","type":"virtual","year":1}
{"name":"caf\u00e9","type":"virtual","year":2001}
{"name":"cafe\u0301","type":"virtual","year":2002}
{"name":"100 %_\\ 'quoted' \"twice\" ;--","type":"mechanical","year":2003}
{"name":"\u6a5f\u68b0 \ud83e\udd16","type":"droid","year":2004}
{"name":" line 1\nline 2\t","type":"droid","year":2005}
NDJSON
    local number
    for ((number = 10; number <= 40; number++)); do
        echo "{\"name\":\"unit $number\",\"type\":\"mechanical\",\"year\":$((1900 + number))}"
    done
}

# Robots are added, changed and deleted, the newest one too: its id must not be assigned again.
database=sqlite://$target/robots.db
records >"$temporary/records.ndjson"
"$cli" --database "$database" import "$temporary/records.ndjson" >&2
"$cli" --database "$database" update 20 --name 'renamed 20' --year 1920 >&2
for id in 11 12 40; do "$cli" --database "$database" delete "$id" >&2; done
# The file alone is complete.
[ ! -e "$target/robots.db-wal" ]
"$cli" --database "$database" export "$target/robots.ndjson" >&2

export SERVERS_OWNER=$$
url=$("$servers" start postgres "$temporary/postgres")
"$cli" copy --from "$database" --to "$url" >&2
pg_dump --dbname="$url" --encoding=UTF8 --no-owner --no-privileges --inserts --schema=public |
    grep --invert-match --regexp='^--' --regexp='^\\' --regexp='^$' --regexp='SCHEMA public' >"$target/postgres.sql"

url=$("$servers" start mariadb "$temporary/mariadb")
"$cli" copy --from "$database" --to "$url" >&2
# With its unusual defaults, the server would cut off the dump.
"$servers" stop "$temporary/mariadb"
: >"$temporary/mariadb/init.sql"
"$servers" start mariadb "$temporary/mariadb" >&2
mariadb-dump --no-defaults --skip-ssl --host=127.0.0.1 --port="$(cat "$temporary/mariadb/port")" \
    --user=robots --password=robots --default-character-set=utf8mb4 --skip-comments --skip-triggers \
    --skip-extended-insert robots >"$target/mariadb.sql"
