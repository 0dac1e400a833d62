# PgBouncer in front of a PostgreSQL server. Part of servers.sh.

pgbouncer() {
    local server=$1 dir=$2 mode=$3
    choose pgbouncer
    need pgbouncer pgbouncer
    main "$server" >/dev/null || fail "no server runs in $server."
    prepare pgbouncer "$dir"
    free_port >"$dir/port"
    echo '"robots" "robots"' >"$dir/users"
    cat >"$dir/pgbouncer.ini" <<CONF
[databases]
robots = host=127.0.0.1 port=$(cat "$server/port")
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $(cat "$dir/port")
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $dir/users
pool_mode = $mode
default_pool_size = 50
CONF
    mv "$dir/new" "$dir/data"
    boot "$dir" || give_up "$dir"
    url "$dir"
}

boot_pgbouncer() {
    launch "$1" pgbouncer "$1/pgbouncer.ini"
    await "$1" pgbouncer_serves "$1"
}

pgbouncer_serves() {
    PGCONNECT_TIMEOUT=5 "$bin/psql" --no-psqlrc --dbname="$(url "$1")" --command="SELECT 1" >/dev/null 2>&1
}
