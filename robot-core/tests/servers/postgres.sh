# PostgreSQL servers and their standbys. Part of servers.sh.

boot_postgres() {
    local dir=$1
    shift
    LOCPATH=$dir/locale launch "$dir" "$bin/postgres" -D "$dir/data" -p "$(cat "$dir/port")" \
        -c lc_messages="$(messages_locale "$dir")" "$@"
    await "$dir" postgres_serves "$dir"
}

# The locale of messages for the server in DIR, in the folder DIR/locale: German if possible.
messages_locale() {
    # A locale of this name is enough, with any content.
    mkdir -p "$1/locale/de_DE.UTF-8"
    if cp -R /usr/lib/locale/C.utf8/LC_MESSAGES "$1/locale/de_DE.UTF-8/" 2>/dev/null; then
        echo de_DE.UTF-8
    else
        echo C
    fi
}

# Whether the server in DIR is ready, by its own file: another server may have its port.
postgres_serves() {
    local lines=()
    mapfile -t lines 2>/dev/null <"$1/data/postmaster.pid" || true
    [ "${lines[0]-}" = "$(cat "$1/pid")" ] && [[ ${lines[7]-} == ready* ]]
}

# Unusual defaults of session settings.
unusual_defaults() {
    [ "${SERVERS_DEFAULTS-}" != usual ] || return 0
    cat <<'CONF'
synchronous_commit = off
default_transaction_isolation = 'serializable'
default_transaction_read_only = on
lock_timeout = '1ms'
timezone = 'Asia/Kathmandu'
datestyle = 'German, DMY'
intervalstyle = 'sql_standard'
bytea_output = 'escape'
client_encoding = 'LATIN1'
CONF
}

# Creates the password of the superuser of the server in DIR.
random_password() {
    (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' ' >"$1/password")
}

# The connection string of PostgreSQL's superuser, through another port if there is a second argument.
superuser() {
    echo "host=127.0.0.1 port=${2-$(cat "$1/port")} user=postgres password=$(cat "$1/password")"
}

ask() {
    "$bin/psql" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
        --dbname="$(superuser "$1") dbname=postgres" --command="$2"
}

sql() {
    choose postgres
    ask "$@"
}

# Nothing is synced while a server is created, which saves seconds.
create_postgres() {
    local dir=$1 icu=()
    # A collation that does not order by bytes.
    [[ $("$bin/initdb" --help) != *icu-locale* ]] || icu=(--locale-provider=icu --icu-locale=en-US)
    "${as[@]}" "$bin/initdb" --pgdata="$dir/new" --username=postgres --auth=reject --no-sync \
        --encoding=UTF8 --locale=C.UTF-8 "${icu[@]}" >>"$dir/log" 2>&1 || fail_with_log "$dir" "initdb failed."
    random_password "$dir"
    "${as[@]}" "$bin/postgres" --single -F -D "$dir/new" -c exit_on_error=on \
        -c password_encryption=scram-sha-256 postgres >>"$dir/log" 2>&1 <<SQL ||
ALTER ROLE postgres PASSWORD '$(cat "$dir/password")';
CREATE ROLE robots LOGIN PASSWORD 'robots';
CREATE DATABASE robots OWNER robots;
SQL
        fail_with_log "$dir" "the role and the database could not be made."
    echo "host all,replication all 127.0.0.1/32 scram-sha-256" >"$dir/new/pg_hba.conf"
    cat >>"$dir/new/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
# The path of a socket is too long in some folders.
unix_socket_directories = ''
# The certificate for TLS, which is off at first.
ssl_cert_file = '$dir/certificate.pem'
ssl_key_file = '$dir/key.pem'
max_connections = 400
shared_buffers = 64MB
wal_keep_size = 256MB
# In the folder, not in /dev/shm, where a killed server leaves it.
dynamic_shared_memory_type = mmap
$(unusual_defaults)
CONF
}

# Adds a setting to the server in DIR. The last one of a name counts.
reconfigure_postgres() {
    echo "$2" >>"$1/data/postgresql.conf"
}

standby() {
    local primary=$1 dir=$2 name connection
    choose postgres
    main "$primary" >/dev/null || fail "no server runs in $primary."
    [ ! -e "$dir/kind" ] || fail "there is a server in $dir already."
    prepare postgres "$dir"
    free_port >"$dir/port"
    name=standby_$(cat "$dir/port")
    connection="$(superuser "$primary" "${@:3}") application_name=$name"
    cp -p "$primary/password" "$dir/password"
    "${as[@]}" "$bin/pg_basebackup" --pgdata="$dir/new" --dbname="$connection" \
        --write-recovery-conf --checkpoint=fast --no-sync >>"$dir/log" 2>&1 ||
        fail_with_log "$dir" "pg_basebackup failed."
    # Once promoted, it must not wait for a standby. The last of such lines counts.
    echo "synchronous_standby_names = ''" >>"$dir/new/postgresql.auto.conf"
    mv "$dir/new" "$dir/data"
    boot "$dir" || give_up "$dir"
    ask "$primary" "ALTER SYSTEM SET synchronous_standby_names = '$name'"
    ask "$primary" "SELECT pg_reload_conf()" >/dev/null
    await "$dir" is_waited_for "$primary" "$name" || fail_with_log "$dir" "the standby did not become synchronous."
    url "$dir"
}

# Whether commits in the primary wait for the standby of a name.
is_waited_for() {
    [ "$(ask "$1" "SELECT sync_state FROM pg_stat_replication WHERE application_name = '$2'")" = sync ]
}

promote() {
    choose postgres
    "${as[@]}" "$bin/pg_ctl" promote --wait --timeout=$timeout --pgdata="$1/data" >>"$1/log" 2>&1 ||
        fail_with_log "$1" "the server in $1 could not be promoted."
}
