//! The seeded faults, and the cases that find each of them.

use std::{thread, time::Duration};

use super::{faulty_store::Fault, ok, valid};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, CursorPlace, Direction, Error, Filter,
        PageRequest, Restoration, Result,
    },
    memory::MemoryCatalogue,
    model::{Draft, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// How long other callers see a half of a change: long enough for another thread to run.
const GAP: Duration = Duration::from_micros(200);

/// What is wrong, the fault, and cases that fail because of it.
pub(super) type Seeded = (&'static str, Fault, &'static [&'static str]);

/// All faults.
pub(super) fn all() -> Vec<Seeded> {
    [CHANGES, RACES, READS, RESTORATIONS, OPENINGS].concat()
}

/// The store with robots of another, and perhaps its last id.
fn copy(robots: impl IntoIterator<Item = Robot>, last_id: Option<RobotId>) -> MemoryCatalogue {
    let store = MemoryCatalogue::new();
    ok(Restoration::new(robots, last_id).and_then(|robots| store.restore(&robots)));
    store
}

fn restore_one(store: &MemoryCatalogue, robot: Robot) -> Result<()> {
    store.restore(&Restoration::new([robot], None)?)
}

/// Inserts drafts otherwise, and executes other changes as they are.
fn inserting(
    store: &MemoryCatalogue,
    change: Change,
    insert: impl FnOnce(ValidDraft) -> Result<RobotId>,
) -> Result<RobotId> {
    match change {
        Change::Insert(draft) => insert(draft),
        other => store.apply(other),
    }
}

fn insert_as(
    store: &MemoryCatalogue,
    change: Change,
    alter: fn(Draft) -> Draft,
) -> Result<RobotId> {
    let insert = |draft: ValidDraft| {
        let altered = ValidDraft::new(alter(draft.clone().into())).unwrap_or(draft);
        store.apply(Change::Insert(altered))
    };
    inserting(store, change, insert)
}

/// Gives a new robot the id after the greatest that exists.
fn reuse_id(store: &MemoryCatalogue, change: Change) -> Result<RobotId> {
    inserting(store, change, |draft| {
        let newest = store.list()?.iter().map(|robot| robot.id().get()).max();
        let id = RobotId::new(newest.unwrap_or(0) + 1).ok_or_else(|| Error::store("no id"))?;
        thread::sleep(GAP);
        if store.find(draft.name())?.is_some() {
            return Err(Violation::NAME_TAKEN.into());
        }
        restore_one(store, draft.with_id(id)).map(|()| id)
    })
}

/// The change without the revision that it expects.
fn unconditional(change: Change) -> Change {
    match change {
        Change::UpdateIf(id, _, changes) => Change::Update(id, changes),
        Change::DeleteIf(id, _) => Change::Delete(id),
        other => other,
    }
}

/// The changes with only some of their members.
fn part(changes: &ValidChanges, keep: fn(&mut Draft)) -> Option<ValidChanges> {
    let mut draft = Draft {
        name: changes.name().map(str::to_owned),
        robot_type: changes.robot_type().map(str::to_owned),
        year: changes.year(),
    };
    keep(&mut draft);
    ValidChanges::new(draft).ok()
}

fn is_name_taken(error: &Error) -> bool {
    error.to_string() == Violation::NAME_TAKEN.to_string()
}

const CHANGES: &[Seeded] = &[
    (
        "names are trimmed",
        Fault::Change(|store, change| {
            insert_as(store, change, |draft| Draft {
                name: draft.name.map(|name| name.trim().to_owned()),
                ..draft
            })
        }),
        &["names_are_compared_by_bytes"],
    ),
    (
        "names are cut",
        Fault::Change(|store, change| {
            insert_as(store, change, |draft| Draft {
                name: draft.name.map(|name| name.chars().take(200).collect()),
                ..draft
            })
        }),
        &["names_of_maximum_length_are_stored"],
    ),
    (
        "years have 31 bits",
        Fault::Change(|store, change| {
            insert_as(store, change, |draft| Draft {
                year: draft.year.map(|year| year & 0x7fff_ffff),
                ..draft
            })
        }),
        &["every_type_and_year_is_stored"],
    ),
    (
        "years are lost",
        Fault::Change(|store, change| {
            insert_as(store, change, |draft| Draft {
                year: Some(0),
                ..draft
            })
        }),
        &["added_robot_can_be_read"],
    ),
    (
        "ids are reused",
        Fault::Change(reuse_id),
        &[
            "new_ids_are_unique",
            "ids_are_never_reused",
            "concurrent_different_inserts_all_succeed",
            "ids_are_unique_during_restorations",
        ],
    ),
    (
        "a refused insert changes the other robot",
        Fault::Change(|store, change| {
            inserting(store, change, |draft| {
                if let Some(other) = store.find(draft.name())? {
                    store.update(other.id(), draft.clone().into())?;
                    return Err(Violation::NAME_TAKEN.into());
                }
                store.apply(Change::Insert(draft))
            })
        }),
        &[
            "add_with_taken_name_is_rejected",
            "refused_changes_are_not_kept_when_reopened",
        ],
    ),
    (
        "changes of missing robots succeed",
        Fault::Change(|store, change| match store.apply(change) {
            Err(Error::NotFound(id)) => Ok(id),
            result => result,
        }),
        &[
            "replace_of_missing_robot_is_not_found",
            "deleted_robot_is_not_found",
            "conditional_change_of_missing_robot_is_not_found",
            "concurrent_deletes_succeed_once",
            "submitted_changes_check_the_rules",
        ],
    ),
    (
        "the own name is taken",
        Fault::Change(|store, change| match &change {
            Change::Update(id, changes)
                if store.get(*id)?.as_ref().map(Robot::name) == changes.name() =>
            {
                Err(Violation::NAME_TAKEN.into())
            }
            _ => store.apply(change),
        }),
        &["replace_may_keep_the_name"],
    ),
    (
        "a refused update changes the other members",
        Fault::Change(|store, change| {
            let result = store.apply(change.clone());
            if let (Change::Update(id, changes), Err(error)) = (&change, &result)
                && is_name_taken(error)
                && let Some(others) = part(changes, |draft| draft.name = None)
            {
                store.update(*id, others)?;
            }
            result
        }),
        &[
            "replace_with_taken_name_changes_nothing",
            "rejected_changes_keep_the_revision",
        ],
    ),
    (
        "released names stay taken",
        Fault::Change(|store, change| {
            inserting(store, change, |draft| {
                let robots = store.list()?;
                let is_changed = |robot: &Robot| robot.revision() > Revision::FIRST;
                if robots.iter().any(is_changed) {
                    return Err(Violation::NAME_TAKEN.into());
                }
                store.apply(Change::Insert(draft))
            })
        }),
        &["released_name_can_be_used_again"],
    ),
    (
        "updates ignore the type",
        Fault::Change(|store, change| match change {
            Change::Update(id, changes) => {
                let others = part(&changes, |draft| draft.robot_type = None);
                store.apply(Change::Update(id, others.unwrap_or(changes)))
            }
            other => store.apply(other),
        }),
        &["replace_sets_all_members", "submitted_changes_take_effect"],
    ),
    (
        "updates set members that they do not have",
        Fault::Change(|store, change| match change {
            Change::Update(id, changes) => {
                let all = part(&changes, |draft| {
                    draft.year.get_or_insert(0);
                    draft.robot_type.get_or_insert_with(|| "virtual".to_owned());
                });
                store.apply(Change::Update(id, all.unwrap_or(changes)))
            }
            other => store.apply(other),
        }),
        &["patch_changes_only_given_members"],
    ),
    (
        "updates keep the revision",
        Fault::Change(|store, change| {
            let before = change.id().and_then(|id| ok(store.get(id)));
            let id = store.apply(change)?;
            if let (Some(before), Some(after)) = (before, store.get(id)?) {
                store.delete(id)?;
                restore_one(store, after.with_revision(before.revision()))?;
            }
            Ok(id)
        }),
        &["every_change_increases_the_revision"],
    ),
    (
        "expected revisions are ignored",
        Fault::Change(|store, change| store.apply(unconditional(change))),
        &[
            "stale_update_changes_nothing",
            "stale_delete_changes_nothing",
            "stale_revision_takes_precedence_over_the_rules",
            "submitted_changes_expect_revisions",
        ],
    ),
    (
        "a change is cancelled by dropping its result",
        Fault::LateChange,
        &["submitted_change_is_not_cancelled_by_dropping_its_result"],
    ),
    (
        "changes that fail are skipped",
        Fault::ApplyAll(|store, changes| {
            let applied = changes.into_iter().map(|change| store.apply(change));
            Ok(applied.filter_map(Result::ok).collect())
        }),
        &["failing_change_prevents_all"],
    ),
    (
        "changes are applied one by one",
        Fault::ApplyAll(|store, changes| {
            let apply = |change| {
                thread::sleep(GAP);
                store.apply(change)
            };
            changes.into_iter().map(apply).collect()
        }),
        &[
            "failing_change_prevents_all",
            "many_changes_are_applied_together",
            "reader_never_sees_a_part_of_the_changes",
            "concurrent_equal_changes_succeed_once",
            "concurrent_changes_of_the_same_robots_are_serial",
        ],
    ),
    (
        "ids of changes applied together are reused",
        Fault::ApplyAll(|store, changes| {
            let applied = changes.into_iter().map(|change| reuse_id(store, change));
            applied.collect()
        }),
        &["ids_of_changes_applied_together_are_not_reused"],
    ),
    (
        "ids of changes are sorted, and one is needed",
        Fault::ApplyAll(|store, changes| {
            let mut ids = store.apply_all(changes)?;
            ids.sort();
            ids.first().ok_or_else(|| Error::store("no change"))?;
            Ok(ids)
        }),
        &[
            "changes_of_all_kinds_are_applied_together",
            "no_changes_are_applied",
        ],
    ),
];

/// Faults between two steps of a change.
const RACES: &[Seeded] = &[
    (
        "a taken name is the robot that has it",
        Fault::Change(|store, change| {
            inserting(store, change, |draft| match store.find(draft.name())? {
                Some(other) => Ok(other.id()),
                None => store.apply(Change::Insert(draft)),
            })
        }),
        &[
            "concurrent_equal_inserts_succeed_once",
            "concurrent_operations_are_linearizable",
        ],
    ),
    (
        "a rename to a taken name is ignored",
        Fault::Change(|store, change| {
            let id = change.id();
            match (store.apply(change), id) {
                (Err(error), Some(id)) if is_name_taken(&error) => Ok(id),
                (result, _) => result,
            }
        }),
        &[
            "concurrent_renames_to_one_name_succeed_once",
            "concurrent_renames_are_linearizable",
        ],
    ),
    (
        "updates write the members that they have read",
        Fault::Change(|store, change| match change {
            Change::Update(id, changes) => {
                let read = store.get(id)?.ok_or(Error::NotFound(id))?;
                thread::sleep(GAP);
                let whole = changes.apply_to(&read);
                store.update(id, valid(whole.into()).into()).map(|()| id)
            }
            other => store.apply(other),
        }),
        &[
            "concurrent_patches_of_different_members_are_kept",
            "concurrent_changes_of_one_robot_are_linearizable",
        ],
    ),
    (
        "the year is written after the other members",
        Fault::Change(|store, change| match change {
            Change::Update(id, changes) => {
                if let Some(first) = part(&changes, |draft| draft.year = None) {
                    store.update(id, first)?;
                    thread::sleep(GAP);
                }
                store.update(id, changes).map(|()| id)
            }
            other => store.apply(other),
        }),
        &["reader_never_sees_a_partial_update"],
    ),
    (
        "revisions are compared before the change",
        Fault::Change(|store, change| {
            if let Change::UpdateIf(id, revision, _) | Change::DeleteIf(id, revision) = &change {
                let read = store.get(*id)?.ok_or(Error::NotFound(*id))?;
                if read.revision() != *revision {
                    return Err(Error::Stale(*id));
                }
                // A deletion waits longer, so that it follows an update that started at the same time.
                let is_update = matches!(change, Change::UpdateIf(..));
                thread::sleep(if is_update { GAP } else { 4 * GAP });
            }
            store.apply(unconditional(change))
        }),
        &[
            "concurrent_conditional_changes_are_all_kept",
            "conditional_deletes_do_not_lose_updates",
            "concurrent_changes_of_one_robot_are_linearizable",
        ],
    ),
    (
        "a robot is deleted and added by an update",
        Fault::Change(|store, change| match change {
            Change::Update(id, changes) => {
                let after = changes.apply_to(&store.get(id)?.ok_or(Error::NotFound(id))?);
                if store
                    .find(after.name())?
                    .is_some_and(|other| other.id() != id)
                {
                    return Err(Violation::NAME_TAKEN.into());
                }
                store.delete(id)?;
                thread::sleep(GAP);
                restore_one(store, after).map(|()| id)
            }
            other => store.apply(other),
        }),
        &["concurrent_changes_of_one_robot_are_linearizable"],
    ),
    (
        "pages are read in two steps",
        Fault::Page(|store, request| {
            let mut found = store.page(request)?;
            thread::sleep(GAP);
            let second = store.page(request)?;
            found.truncate(1);
            found.extend(second.into_iter().skip(1));
            Ok(found)
        }),
        &["concurrent_operations_are_linearizable"],
    ),
];

/// A filter with all conditions of another, but another text.
fn with_text(filter: &Filter, text: &str) -> Filter {
    filter.clone().containing(text)
}

const READS: &[Seeded] = &[
    (
        "look-ups find only small ids",
        Fault::Get(|store, id| ok(store.get(id)).filter(|_| id.get() < 1_000_000)),
        &["restored_robots_keep_their_ids"],
    ),
    (
        "look-ups find no changed robots",
        Fault::Get(|store, id| {
            ok(store.get(id)).filter(|robot| robot.revision() == Revision::FIRST)
        }),
        &["submitted_get_finds_the_latest_state"],
    ),
    (
        "names are found without case",
        Fault::Find(|store, name| {
            let mut robots = ok(store.list()).into_iter();
            robots.find(|robot| robot.name().eq_ignore_ascii_case(name))
        }),
        &["find_matches_the_exact_name"],
    ),
    (
        "names are not found",
        Fault::Find(|_, _| None),
        &[
            "add_reports_all_violations",
            "replace_reports_all_violations",
            "patch_checks_the_rules",
        ],
    ),
    (
        "names are ordered without case",
        Fault::Page(|store, request| {
            let mut found = store.page(request)?;
            found.sort_by_key(|robot| robot.name().to_lowercase());
            Ok(found)
        }),
        &["names_are_ordered_by_bytes"],
    ),
    (
        "cursors need their robots",
        Fault::Page(|store, request| {
            let is_found = match request.cursor.place() {
                CursorPlace::Name(Some(name)) => store.find(name)?.is_some(),
                CursorPlace::Year(Some((_, id))) | CursorPlace::Id(Some(id)) => {
                    store.get(*id)?.is_some()
                }
                _ => true,
            };
            let start = Cursor::start(request.cursor.sort());
            let cursor = if is_found { request.cursor } else { &start };
            store.page(PageRequest { cursor, ..request })
        }),
        &[
            "pages_start_after_any_text",
            "cursor_needs_no_robot",
            "changes_between_pages_keep_paging_correct",
            "changes_between_pages_repeat_no_robot",
        ],
    ),
    (
        "searches start at the beginning",
        Fault::Page(|store, request| {
            let start = Cursor::start(request.cursor.sort());
            let has_text = !request.filter.get_containing().is_empty();
            let cursor = if has_text { &start } else { request.cursor };
            store.page(PageRequest { cursor, ..request })
        }),
        &["pages_of_a_search_contain_only_matches"],
    ),
    (
        "cursors skip robots of the same year",
        Fault::Page(|store, request| {
            let last = match request.cursor.direction() {
                Direction::Ascending => i64::MAX,
                Direction::Descending => 1,
            };
            let cursor = match request.cursor.place() {
                CursorPlace::Year(Some((year, _))) => {
                    let text = format!("{}:{year}:{last}", request.cursor.sort());
                    text.parse().unwrap_or_default()
                }
                _ => request.cursor.clone(),
            };
            store.page(PageRequest {
                cursor: &cursor,
                ..request
            })
        }),
        &["every_filter_and_order_is_paged"],
    ),
    (
        "pages have one robot too few",
        Fault::Page(|store, request| {
            let limit = request.limit.saturating_sub(1);
            store.page(PageRequest { limit, ..request })
        }),
        &[
            "pages_are_ordered_and_complete",
            "pages_of_any_size_are_returned",
        ],
    ),
    (
        "searches find no changed robots",
        Fault::Page(|store, request| {
            let has_text = !request.filter.get_containing().is_empty();
            let mut found = store.page(request)?;
            found.retain(|robot| !has_text || robot.revision() == Revision::FIRST);
            Ok(found)
        }),
        &[
            "search_finds_the_latest_names",
            "folded_search_finds_the_latest_names",
        ],
    ),
    (
        "searches ignore case",
        Fault::Filter(|filter| filter.clone().folded()),
        &["search_compares_bytes"],
    ),
    (
        "searches find prefixes",
        Fault::Page(|store, request| {
            let mut found = store.page(request)?;
            found.retain(|robot| robot.name().starts_with(request.filter.get_containing()));
            Ok(found)
        }),
        &["search_matches_any_part_of_a_name"],
    ),
    (
        "searches have wildcards",
        Fault::Filter(|filter| {
            with_text(
                filter,
                &filter.get_containing().replace(['%', '_', '*'], ""),
            )
        }),
        &["search_has_no_wildcards", "folded_search_has_no_wildcards"],
    ),
    (
        "searches end at NUL",
        Fault::Filter(|filter| {
            with_text(
                filter,
                filter.get_containing().split('\0').next().unwrap_or(""),
            )
        }),
        &[
            "search_without_matches_is_empty",
            "filters_with_nul_match_nothing",
        ],
    ),
    (
        "searches ignore their text",
        Fault::Filter(|filter| with_text(filter, "")),
        &[
            "folded_search_of_any_part_is_complete",
            "entries_have_the_ids_and_names_of_pages",
        ],
    ),
    (
        "types are ignored",
        Fault::Filter(|filter| {
            let types = Field::TYPE.choices().iter().copied();
            types.fold(filter.clone(), Filter::of_type)
        }),
        &[
            "filters_combine",
            "folded_searches_are_filtered_paged_and_counted",
        ],
    ),
    (
        "the last year is exclusive",
        Fault::Filter(|filter| {
            let first = filter.get_first_year().unwrap_or(0);
            let last = filter.get_last_year().unwrap_or(i64::MAX);
            filter.clone().years(first..last)
        }),
        &["filters_combine"],
    ),
    (
        "diacritics and case are not folded",
        Fault::Filter(|filter| Filter::from(filter.get_containing())),
        &[
            "folded_search_ignores_case_and_diacritics",
            "folded_search_finds_the_latest_names",
            "folded_search_of_any_part_is_complete",
        ],
    ),
    (
        "ı is folded to i",
        Fault::Filter(|filter| with_text(filter, &filter.get_containing().replace('ı', "i"))),
        &["folded_search_compares_other_characters"],
    ),
    (
        "counts ignore the filter",
        Fault::CountFilter(|_| Filter::all()),
        &[
            "counts_and_summaries_have_the_filter",
            "folded_searches_are_filtered_paged_and_counted",
        ],
    ),
    (
        "the last id is that of the newest robot",
        Fault::LastId(|store| ok(store.list()).iter().map(Robot::id).max()),
        &["last_id_is_kept_after_delete"],
    ),
];

const RESTORATIONS: &[Seeded] = &[
    (
        "taken ids are replaced",
        Fault::Restore(|store, restoration| {
            for robot in restoration.robots() {
                let _ = store.delete(robot.id());
            }
            store.restore(restoration)
        }),
        &["taken_id_restores_nothing"],
    ),
    (
        "conflicts are skipped",
        Fault::Restore(|store, restoration| {
            for robot in restoration.robots() {
                let _ = restore_one(store, robot.clone());
            }
            store.restore(&Restoration::new([], restoration.last_id())?)
        }),
        &[
            "taken_name_restores_nothing",
            "duplicate_in_a_restoration_restores_nothing",
            "concurrent_equal_restorations_succeed_once",
        ],
    ),
    (
        "robots before a conflict are restored",
        Fault::Restore(|store, restoration| {
            for robot in restoration.robots() {
                restore_one(store, robot.clone())?;
            }
            store.restore(&Restoration::new([], restoration.last_id())?)
        }),
        &[
            "refused_restoration_leaves_nothing_behind",
            "large_restoration_is_atomic",
        ],
    ),
    (
        "the last conflict is reported",
        Fault::Restore(|store, restoration| {
            let mut conflict = store.restore(restoration);
            if conflict.is_err() {
                for robot in restoration.robots() {
                    if store.find(robot.name())?.is_some() {
                        conflict = Err(Restoration::conflict(robot, Violation::NAME_TAKEN));
                    }
                }
            }
            conflict
        }),
        &["conflict_is_reported_for_the_lowest_id"],
    ),
    (
        "restored robots get new ids",
        Fault::Restore(|store, restoration| {
            let drafts = restoration.robots().iter().cloned().map(Draft::from);
            let inserts = drafts.map(|draft| Change::Insert(valid(draft)));
            store.apply_all(inserts.collect()).map(drop)
        }),
        &[
            "every_valid_robot_can_be_restored",
            "new_ids_are_greater_than_restored_ids",
            "restored_robots_can_be_changed_and_deleted",
            "restored_robots_are_kept_when_reopened",
        ],
    ),
    (
        "the restored last id is ignored",
        Fault::Restore(|store, restoration| {
            store.restore(&Restoration::new(
                restoration.robots().iter().cloned(),
                None,
            )?)
        }),
        &["new_ids_are_greater_than_the_restored_last_id"],
    ),
    (
        "restored revisions are ignored",
        Fault::Restore(|store, restoration| {
            let robots = restoration.robots().iter().cloned();
            let robots = robots.map(|robot| robot.with_revision(Revision::FIRST));
            store.restore(&Restoration::new(robots, restoration.last_id())?)
        }),
        &["restored_robots_keep_their_revisions"],
    ),
];

const OPENINGS: &[Seeded] = &[
    (
        "opening adds a robot",
        Fault::Open(|store| {
            let added = copy(ok(store.list()), ok(store.last_id()));
            let name = format!("sample {:?}", ok(store.last_id()));
            ok(added.add(Draft::new(name, "droid", 0)));
            added
        }),
        &[
            "empty_catalogue_has_no_robots",
            "empty_catalogue_is_still_empty_when_reopened",
        ],
    ),
    (
        "ids begin with a million",
        Fault::Open(|store| copy(ok(store.list()), RobotId::new(1_000_000))),
        &["ids_above_the_maximum_are_not_restored"],
    ),
    (
        "nothing is kept",
        Fault::Open(|_| MemoryCatalogue::new()),
        &[
            "robots_are_kept_when_reopened",
            "changes_applied_together_are_kept_when_reopened",
            "names_are_still_unique_when_reopened",
            "search_finds_kept_robots_when_reopened",
        ],
    ),
    (
        "changes are not kept",
        Fault::Open(|store| {
            let robots = ok(store.list()).into_iter();
            let robots = robots.map(|robot| robot.with_revision(Revision::FIRST));
            copy(robots, ok(store.last_id()))
        }),
        &["changes_and_deletes_are_kept_when_reopened"],
    ),
    (
        "the last id is not kept",
        Fault::Open(|store| copy(ok(store.list()), None)),
        &["ids_are_never_reused_when_reopened"],
    ),
];
