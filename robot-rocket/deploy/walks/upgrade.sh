#!/usr/bin/env bash
# Upgrade from the release before while clients write, on SQLite, PostgreSQL and MariaDB:
#
#   robot-rocket/deploy/walks/upgrade.sh PROGRAMS PREVIOUS
#
# PREVIOUS is the folder of build-previous.sh.
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
consult 'Back up and restore'
follow 'Upgrade'

for store in sqlite postgres mariadb; do
    new_store "$store"
    substitute https://robots.example "$site"
    install_service "$2"
    [ "$store" = sqlite ] || setting "DATABASE_URL=$url"
    systemctl start robot-rocket
    within_a_minute serves
    # Old robots are changed, and the newest is deleted: its id must not be assigned again.
    for ((number = 1; number <= 1000; number++)); do
        echo "{\"name\":\"old-$number\",\"type\":\"mechanical\",\"year\":$number}"
    done >records.ndjson
    robot-cli --database "$url" import records.ndjson
    robot-cli --database "$url" update 7 --name renamed-7
    robot-cli --database "$url" delete 1000
    robots >before
    rm -f enough
    write_robots client-1 >written-1 &
    clients=$!
    write_robots client-2 >written-2 &
    clients+=" $!"
    sleep 1

    run 'export DATABASE_URL=*'
    [ "$DATABASE_URL" = "$url" ] || fail "the URL of the store is not $url, but $DATABASE_URL"
    case $store in
    sqlite) run 'robot-cli backup copy.db' ;;
    postgres) run 'pg_dump *' ;;
    mariadb) run 'mariadb-dump *' ;;
    esac
    cd "$programs"
    run 'systemctl stop*'
    run 'install -m 755*'
    : >"$log"
    run 'systemctl start*'
    cd "$work"
    within_a_minute robot-rocket --ready
    run 'systemd-run* --ready'
    run 'journalctl*' | grep 'migrating to this version' >/dev/null || fail "the log does not mention the migration"
    sleep 1
    touch enough
    # shellcheck disable=SC2086 # Two processes.
    wait $clients
    run 'robot-cli check' | grep '^No problems found: '
    has_all_of before written-1 written-2
    assigns_ids_after "$(cut -d' ' -f1 before written-1 written-2 | sort --numeric-sort | tail -1)"
    ((1000 < $(robots | awk '$2 ~ /^client/ && (!least || $1 < least) { least = $1 } END { print least }'))) || fail "an id was assigned again"
    echo "$store: $(cat before written-1 written-2 | wc -l) robots are complete"
    systemctl stop robot-rocket
done
finish
