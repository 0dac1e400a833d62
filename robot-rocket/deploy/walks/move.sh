#!/usr/bin/env bash
# Move from SQLite to PostgreSQL, of the catalogue and of a backup:
#
#   robot-rocket/deploy/walks/move.sh PROGRAMS
# shellcheck source=robot-rocket/deploy/walks/walk.sh
source "$(dirname "$0")/walk.sh"
consult 'Restore a backup'
follow 'Move to a database server'

# A new database, so that the copy of the backup has another one.
new_store postgres
target=$url
new_store sqlite
substitute postgres://robots:secret@db.example/robots "$target"
substitute https://robots.example "$site"
install_service "$programs"
systemctl start robot-rocket
within_a_minute robot-rocket --ready
for name in one two three four; do last=$(add "$name"); done
robot-cli --database "$url" delete 2 "$last" --yes
robots >before
robot-cli --database "$url" backup copy.db
cp copy.db backup.db

run 'systemctl stop*'
sha256sum /var/lib/robots/robots.db >file
run 'DATABASE_URL=* robot-cli copy --from sqlite:///var*' | grep '^Copied 2 robots; both have the checksum '
sha256sum --check --quiet file || fail "the copy has changed its source"
run "echo 'DATABASE_URL=*"
run 'systemctl start*'
within_a_minute robot-rocket --ready
run 'systemd-run* --ready'
run 'systemctl disable*'
url=$target
has_all_of before
[ "$(robots)" = "$(cat before)" ] || fail "there are other robots than before"
assigns_ids_after "$last"

# A second copy is refused, and the file is as it was.
if robot-cli copy --from sqlite:///var/lib/robots/robots.db --to "$target" 2>output; then fail "the target was not empty"; fi
grep 'the target is not empty' output
sha256sum --check --quiet file || fail "the second copy has changed its source"

systemctl stop robot-rocket
"$servers" stop "$database"
new_store postgres
run 'robot-cli check --database sqlite://copy.db' | grep '^No problems found: 2 robots'
run 'DATABASE_URL=* robot-cli copy --from sqlite://copy.db' | grep '^Copied 2 robots'
cmp copy.db backup.db || fail "the copy has changed the backup"
[ "$(robots)" = "$(cat before)" ] || fail "the backup had other robots"
finish
