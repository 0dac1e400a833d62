#!/usr/bin/env bash
# The way back to the release before, on SQLite, PostgreSQL and MariaDB: by the backup, and by undoing the
# migrations, which keeps newer robots:
#
#   robot-rocket/deploy/walks/roll-back.sh PROGRAMS PREVIOUS
#
# PREVIOUS is the folder of build-previous.sh.
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
consult 'Back up and restore'
consult 'Restore a backup'
follow 'Roll back'

# Restores the backup in the store.
restore() {
    case $store in
    sqlite) run 'robot-cli restore*' ;;
    postgres) run 'pg_restore *' ;;
    mariadb) run 'mariadb *' ;;
    esac
}

undo() { run 'robot-cli migrate *'; }

for store in sqlite postgres mariadb; do
    for way in restore undo; do
        rm -f copy.*
        new_store "$store"
        # Without tokens.
        substitute "-H 'Authorization: Bearer robots_…' " ''
        substitute https://robots.example "$site"
        substitute VERSION "$("$2/robot-cli" --version | cut -d' ' -f2)"
        install_service "$2"
        [ "$store" = sqlite ] || setting "DATABASE_URL=$url"
        export DATABASE_URL=$url
        systemctl start robot-rocket
        within_a_minute serves
        add old
        case $store in
        sqlite) run 'robot-cli backup copy.db' ;;
        postgres) run 'pg_dump *' ;;
        mariadb) run 'mariadb-dump *' ;;
        esac

        systemctl stop robot-rocket
        cp "$programs/robot-rocket" "$programs/robot-cli" /usr/local/bin/
        systemctl start robot-rocket
        within_a_minute robot-rocket --ready
        last=$(add new)
        # The older version refuses the database of the newer one.
        "$2/robot-cli" list >output 2>&1 && fail "the older version opens the migrated database"
        grep 'newer version' output
        run 'systemctl stop*'

        "$way"
        cd "$2"
        run 'install -m 755*'
        run 'systemctl start*'
        cd "$work"
        within_a_minute serves
        ! add old >/dev/null || fail "the older version adds a name twice"
        run 'curl *' | grep '"name"' >/dev/null || fail "the older version has no robots"
        case $way in
        restore) [ "$(robots)" = '1 old' ] || fail "the restored robots are: $(robots)" ;;
        undo)
            [ "$(robots)" = "$(printf '1 old\n%s new' "$last")" ] || fail "the robots are: $(robots)"
            assigns_ids_after "$last"
            ;;
        esac
        echo "$store, $way: the older version has its robots"
        systemctl stop robot-rocket
        before=$(robots)
        cp "$programs/robot-rocket" "$programs/robot-cli" /usr/local/bin/
        systemctl start robot-rocket
        within_a_minute robot-rocket --ready
        [ "$(robots)" = "$before" ] || fail "after another upgrade the robots are: $(robots)"
        systemctl stop robot-rocket
        [ "$store" = sqlite ] || "$servers" stop "$database"
    done
done
finish
