//! The seeded faults, and the cases that find each of them.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{faulty_store::Fault, ok, restore, valid};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, Error, Filter, PageRequest, Place, Receipt,
        Redefinition, Restoration, Result,
    },
    memory::MemoryCatalogue,
    model::{Draft, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft, Value, Violation},
};

/// How long other callers see a half of a change: long enough for another thread to run.
const GAP: Duration = Duration::from_micros(200);

/// A fault, and cases that fail because of it.
pub(super) type Seeded = (Fault, &'static str);

/// All faults.
pub(super) fn all() -> Vec<Seeded> {
    [CHANGES, READS, RESTORATIONS, OPENINGS, DEFINITIONS].concat()
}

/// The changes with other members.
fn altered(changes: &ValidChanges, alter: impl FnOnce(&mut Draft)) -> ValidChanges {
    let mut draft = Draft {
        name: changes.name().map(Into::into),
        robot_type: changes.robot_type().map(Into::into),
        year: changes.year(),
        ..Draft::default()
    };
    alter(&mut draft);
    ValidChanges::new(draft).unwrap_or_else(|_| changes.clone())
}

/// Executes updates otherwise, and other changes as they are.
fn updating(
    store: &MemoryCatalogue,
    change: Change,
    update: impl FnOnce(RobotId, ValidChanges) -> Result<Receipt>,
) -> Result<Receipt> {
    match change {
        Change::Update(id, None, changes) => update(id, changes),
        other => store.apply(other),
    }
}

/// Executes inserts otherwise, and other changes as they are.
fn inserting(
    store: &MemoryCatalogue,
    change: Change,
    insert: impl FnOnce(ValidDraft) -> Result<Receipt>,
) -> Result<Receipt> {
    match change {
        Change::Insert(draft) => insert(draft),
        other => store.apply(other),
    }
}

/// Gives a new robot the id after the greatest that exists.
fn reuse_id(store: &MemoryCatalogue, change: Change) -> Result<Receipt> {
    inserting(store, change, |draft| {
        let newest = store.list()?.iter().map(|robot| robot.id().get()).max();
        let id = super::id(newest.unwrap_or(0) + 1);
        thread::sleep(GAP);
        if store.find(draft.name())?.is_some() {
            return Err(Violation::NAME_TAKEN.into());
        }
        restore(store, &[draft.with_id(id)], None).map(|()| Receipt::added(id))
    })
}

/// The change without the revision that it expects.
fn unconditional(change: Change) -> Change {
    match change {
        Change::Update(id, _, changes) => Change::Update(id, None, changes),
        Change::Delete(id, _) => Change::Delete(id, None),
        insert @ Change::Insert(_) => insert,
    }
}

const CHANGES: &[Seeded] = &[
    // Names are trimmed and cut, years have 31 bits, and own values are lost.
    (
        Fault::Change(|store, change| {
            inserting(store, change, |draft| {
                let name: String = draft.name().trim().chars().take(200).collect();
                let altered = Draft {
                    name: Some(name.into()),
                    robot_type: draft.robot_type().map(Into::into),
                    year: Some(draft.year().unwrap_or_default() & 0x7fff_ffff),
                    ..Draft::default()
                };
                let altered = store.definition().validate(altered).unwrap_or(draft);
                store.apply(Change::Insert(altered))
            })
        }),
        "names_are_compared_by_bytes names_of_maximum_length_are_stored \
         every_type_and_year_is_stored types_and_years_may_be_missing \
         values_of_every_kind_are_stored own_filters_and_orders_are_paged_and_counted \
         texts_are_compared_by_bytes_with_and_without_an_index",
    ),
    (
        Fault::Change(reuse_id),
        "new_ids_are_unique ids_are_never_reused concurrent_different_inserts_all_succeed \
         ids_are_unique_during_restorations",
    ),
    // A change to a taken name is ignored.
    (
        Fault::Change(|store, change| {
            let name = match &change {
                Change::Insert(draft) => Some(draft.name().to_owned()),
                _ => None,
            };
            let id = change.id();
            match store.apply(change) {
                Err(Error::Rejected(_)) => {
                    let other = name.and_then(|name| ok(store.find(&name)));
                    let id = id.or(other.map(|robot| robot.id()));
                    let id = id.ok_or_else(|| Error::store("no robot"))?;
                    Ok(Receipt::added(id))
                }
                result => result,
            }
        }),
        "taken_name_is_rejected rejected_changes_keep_the_revision \
         refused_changes_are_not_kept_when_reopened names_are_still_unique_when_reopened \
         concurrent_equal_inserts_succeed_once concurrent_renames_to_one_name_succeed_once \
         concurrent_operations_are_linearizable concurrent_renames_are_linearizable",
    ),
    // Changes of missing robots succeed.
    (
        Fault::Change(|store, change| match store.apply(change) {
            Err(Error::NotFound(id)) => Ok(Receipt::added(id)),
            result => result,
        }),
        "change_of_missing_robot_is_not_found deleted_robot_is_not_found \
         conditional_change_of_missing_robot_is_not_found concurrent_deletes_succeed_once",
    ),
    // Released names stay taken.
    (
        Fault::Change(|store, change| {
            inserting(store, change, |draft| {
                let is_changed = |robot: &Robot| robot.revision() > Revision::FIRST;
                if store.list()?.iter().any(is_changed) {
                    return Err(Violation::NAME_TAKEN.into());
                }
                store.apply(Change::Insert(draft))
            })
        }),
        "released_name_can_be_used_again",
    ),
    // Updates set another type.
    (
        Fault::Change(|store, change| {
            updating(store, change, |id, changes| {
                let other = Some("mechanical".to_owned());
                let changes = altered(&changes, |draft| draft.robot_type = other.map(Into::into));
                store.apply(Change::Update(id, None, changes))
            })
        }),
        "replace_sets_all_members patch_changes_only_given_members",
    ),
    // Updates keep the revision.
    (
        Fault::Change(|store, change| {
            let before = change.id().and_then(|id| ok(store.get(id)));
            let receipt = store.apply(change)?;
            if let (Some(before), Some(after)) = (before, store.get(receipt.id)?) {
                store.delete(receipt.id)?;
                restore(store, &[after.with_revision(before.revision())], None)?;
            }
            Ok(receipt)
        }),
        "every_change_increases_the_revision",
    ),
    // Expected revisions are ignored.
    (
        Fault::Change(|store, change| store.apply(unconditional(change))),
        "stale_update_changes_nothing stale_delete_changes_nothing \
         stale_revision_takes_precedence_over_the_rules",
    ),
    (
        Fault::LateChange,
        "change_is_not_cancelled_by_dropping_its_result",
    ),
    // Changes are applied one by one.
    (
        Fault::ApplyAll(|store, changes| {
            let apply_late = |change| {
                thread::sleep(GAP);
                store.apply(change)
            };
            changes.into_iter().map(apply_late).collect()
        }),
        "failing_change_prevents_all many_changes_are_applied_together \
         many_conditional_changes_are_applied_together \
         reader_never_sees_a_part_of_the_changes concurrent_equal_changes_succeed_once \
         concurrent_changes_of_the_same_robots_are_serial",
    ),
    (
        Fault::ApplyAll(|store, changes| {
            let applied = changes.into_iter().map(|change| reuse_id(store, change));
            applied.collect()
        }),
        "ids_of_changes_applied_together_are_not_reused",
    ),
    // Ids of changes are sorted, and one is needed.
    (
        Fault::ApplyAll(|store, changes| {
            let mut receipts = store.apply_all(changes)?;
            receipts.sort_by_key(|receipt| receipt.id);
            receipts.first().ok_or_else(|| Error::store("no change"))?;
            Ok(receipts)
        }),
        "changes_of_all_kinds_are_applied_together no_changes_are_applied \
         changes_take_names_that_earlier_ones_release",
    ),
    // Updates write the members that they have read.
    (
        Fault::Change(|store, change| {
            updating(store, change, |id, changes| {
                let read = store.get(id)?.ok_or(Error::NotFound(id))?;
                thread::sleep(GAP);
                let whole = Draft::from(changes.apply_to(&read, read.revision()));
                store.apply(Change::Update(id, None, valid(whole).into()))
            })
        }),
        "concurrent_patches_of_different_members_are_kept \
         concurrent_changes_of_one_robot_are_linearizable",
    ),
    // The year is written after the other members.
    (
        Fault::Change(|store, change| {
            updating(store, change, |id, changes| {
                store.update(id, altered(&changes, |draft| draft.year = None))?;
                thread::sleep(GAP);
                store.apply(Change::Update(id, None, changes))
            })
        }),
        "reader_never_sees_a_partial_update",
    ),
    // Revisions are compared before the change.
    (
        Fault::Change(|store, change| {
            if let Change::Update(id, Some(revision), _) | Change::Delete(id, Some(revision)) =
                &change
            {
                let has_revision = || match store.get(*id)? {
                    Some(robot) => Ok(robot.revision() == *revision),
                    None => Err(Error::NotFound(*id)),
                };
                if !has_revision()? {
                    return Err(Error::Stale(*id));
                }
                thread::sleep(GAP);
                // A deletion waits for an update that started at the same time.
                let is_deletion = matches!(change, Change::Delete(..));
                let deadline = Instant::now() + Duration::from_secs(1);
                while is_deletion && has_revision()? && Instant::now() < deadline {
                    thread::sleep(GAP);
                }
            }
            store.apply(unconditional(change))
        }),
        "concurrent_conditional_changes_are_all_kept conditional_deletes_do_not_lose_updates",
    ),
];

/// A filter with all conditions of another, but another text.
fn with_text(filter: &Filter, text: &str) -> Filter {
    filter.clone().containing(text)
}

const READS: &[Seeded] = &[
    // Look-ups find only small ids.
    (
        Fault::Get(|store, id| ok(store.get(id)).filter(|_| id.get() < 1_000_000)),
        "restored_robots_keep_their_ids",
    ),
    // Names are found without case.
    (
        Fault::Find(|store, name| {
            let mut robots = ok(store.list()).into_iter();
            robots.find(|robot| robot.name().eq_ignore_ascii_case(name))
        }),
        "find_matches_the_exact_name",
    ),
    // Names are not found.
    (
        Fault::Find(|_, _| None),
        "added_robot_can_be_read all_violations_are_reported equal_names_are_in_the_order_of_ids",
    ),
    // Names are ordered without case.
    (
        Fault::Page(|store, request| {
            let mut found = store.page(request)?;
            found.items.sort_by_key(|robot| robot.name().to_lowercase());
            Ok(found)
        }),
        "names_are_ordered_and_searched_by_bytes",
    ),
    // A page that is limited by bytes is the last one.
    (
        Fault::Page(|store, request| {
            let mut page = store.page(request)?;
            page.is_last = page.items.len() < request.limit;
            Ok(page)
        }),
        "pages_limited_by_bytes_are_complete",
    ),
    // Cursors need their robots.
    (
        Fault::Page(|store, request| {
            let is_found = match request.cursor.place() {
                Some(Place { id: Some(id), .. }) => store.get(*id)?.is_some(),
                Some(Place {
                    value: Some(Value::Text(name)),
                    ..
                }) => store.find(name)?.is_some(),
                _ => true,
            };
            let start = Cursor::start(request.cursor.sort());
            let cursor = if is_found { request.cursor } else { &start };
            store.page(PageRequest { cursor, ..request })
        }),
        "pages_start_after_any_text cursor_needs_no_robot changes_between_pages_repeat_no_robot",
    ),
    // Pages have one robot too few.
    (
        Fault::Page(|store, request| {
            let limit = request.limit.saturating_sub(1);
            store.page(PageRequest { limit, ..request })
        }),
        "every_filter_and_order_is_paged_and_counted pages_of_any_size_are_returned",
    ),
    // Searches find no changed robots.
    (
        Fault::Page(|store, request| {
            let has_text = !request.filter.containing.is_empty();
            let mut found = store.page(request)?;
            found
                .items
                .retain(|robot| !has_text || robot.revision() == Revision::FIRST);
            Ok(found)
        }),
        "search_finds_the_latest_names folded_search_finds_the_latest_names",
    ),
    // Searches ignore case.
    (
        Fault::Filter(|filter| filter.clone().folded()),
        "search_matches_parts_of_names",
    ),
    // Searches have wildcards.
    (
        Fault::Filter(|filter| {
            let text = filter.containing.replace(['%', '_', '*'], "");
            with_text(filter, &text)
        }),
        "names_are_ordered_and_searched_by_bytes folded_search_has_no_wildcards",
    ),
    // Searches end at NUL.
    (
        Fault::Filter(|filter| {
            let text = filter.containing.split('\0').next();
            with_text(filter, text.unwrap_or_default())
        }),
        "search_matches_parts_of_names filters_with_nul_match_nothing",
    ),
    // Searches ignore their text.
    (
        Fault::Filter(|filter| with_text(filter, "")),
        "folded_search_of_any_part_is_complete",
    ),
    // Types are ignored.
    (
        Fault::Filter(|filter| {
            let types = Field::TYPE.choices().iter().copied();
            types.fold(filter.clone(), |filter, one| filter.with(Field::TYPE, one))
        }),
        "filters_combine folded_searches_are_filtered_paged_and_counted",
    ),
    // Diacritics and case are not folded.
    (
        Fault::Filter(|filter| Filter::from(&*filter.containing)),
        "folded_search_ignores_case_and_diacritics",
    ),
    (
        Fault::Filter(|filter| with_text(filter, &filter.containing.replace('ı', "i"))),
        "folded_search_compares_other_characters",
    ),
    // Counts ignore the filter.
    (
        Fault::CountFilter(|_| Filter::all()),
        "summary_groups_types_and_decades every_filter_and_order_is_paged_and_counted",
    ),
    // The last id is that of the newest robot.
    (
        Fault::LastId(|store| ok(store.list()).iter().map(Robot::id).max()),
        "last_id_is_kept_after_delete",
    ),
];

const RESTORATIONS: &[Seeded] = &[
    // Conflicts are skipped.
    (
        Fault::Restore(|store, restoration| {
            for robot in restoration.robots().iter().cloned() {
                let _ = restore(store, &[robot], None);
            }
            restore(store, &[], restoration.last_id())
        }),
        "conflicting_restoration_leaves_nothing_behind concurrent_equal_restorations_succeed_once",
    ),
    // Robots before a conflict are restored.
    (
        Fault::Restore(|store, restoration| {
            for robot in restoration.robots().iter().cloned() {
                restore(store, &[robot], restoration.last_id())?;
            }
            Ok(())
        }),
        "conflicting_restoration_leaves_nothing_behind large_restoration_is_atomic",
    ),
    // Restored robots get new ids.
    (
        Fault::Restore(|store, restoration| {
            let drafts = restoration.robots().iter().cloned().map(Draft::from);
            let inserts = drafts.map(|draft| Change::Insert(valid(draft)));
            store.apply_all(inserts.collect()).map(drop)
        }),
        "every_valid_robot_can_be_restored new_ids_are_greater_than_restored_ids \
         restored_robots_can_be_changed_and_deleted restored_robots_are_kept_when_reopened",
    ),
    // Restored revisions are ignored.
    (
        Fault::Restore(|store, restoration| {
            let robots = restoration.robots().iter().cloned();
            let robots = robots.map(|robot| robot.with_revision(Revision::FIRST));
            store.restore(&Restoration::new(robots, restoration.last_id())?)
        }),
        "restored_robots_keep_their_revisions",
    ),
];

/// A store with robots of another, and perhaps its last id.
fn copy(robots: &[Robot], last_id: Option<RobotId>) -> MemoryCatalogue {
    let store = MemoryCatalogue::new();
    ok(restore(&store, robots, last_id));
    store
}

const OPENINGS: &[Seeded] = &[
    // Opening adds a robot.
    (
        Fault::Open(|store| {
            let added = copy(&ok(store.list()), ok(store.last_id()));
            let name = format!("sample {:?}", ok(store.last_id()));
            super::add(&added, &name);
            added
        }),
        "empty_catalogue_has_no_robots empty_catalogue_is_still_empty_when_reopened \
         ids_above_the_maximum_are_not_restored",
    ),
    // Nothing is kept.
    (
        Fault::Open(|_| MemoryCatalogue::new()),
        "definition_and_values_are_kept_when_reopened \
         robots_are_kept_when_reopened changes_applied_together_are_kept_when_reopened \
         search_finds_kept_robots_when_reopened",
    ),
    // Changes are not kept.
    (
        Fault::Open(|store| {
            let robots = ok(store.list()).into_iter();
            let robots = robots.map(|robot| robot.with_revision(Revision::FIRST));
            copy(&robots.collect::<Vec<_>>(), ok(store.last_id()))
        }),
        "changes_and_deletes_are_kept_when_reopened",
    ),
    // The last id is not kept.
    (
        Fault::Open(|store| copy(&ok(store.list()), None)),
        "ids_are_never_reused_when_reopened",
    ),
];

const DEFINITIONS: &[Seeded] = &[
    // Values are stored that an earlier definition has checked.
    (
        Fault::Change(|store, change| {
            inserting(store, change, |draft| {
                let unchecked = ValidDraft::from_stored(draft.into());
                store.apply(Change::Insert(unchecked))
            })
        }),
        "changes_are_checked_by_the_present_definition",
    ),
    // Values may be equal.
    (
        Fault::Define(|redefinition| {
            let document = redefinition.definition.to_string();
            let document = document.replace(r#""unique": true"#, r#""unique": false"#);
            Redefinition::new(super::own_fields::parse(&document))
        }),
        "taken_values_are_reported_in_order equal_values_are_equal_in_every_form \
         concurrent_equal_values_succeed_once taken_value_prevents_all_changes \
         own_values_are_restored duplicates_exclude_a_unique_field \
         values_stay_unique_while_they_are_defined",
    ),
    // Searches do not include own fields.
    (
        Fault::Define(|redefinition| {
            let document = redefinition.definition.to_string();
            let document = document.replace(r#""search": true"#, r#""search": false"#);
            Redefinition::new(super::own_fields::parse(&document))
        }),
        "searches_find_own_values_after_every_change",
    ),
    // The revision and the values of robots are ignored.
    (
        Fault::Define(|redefinition| Redefinition {
            drops_values: true,
            ..Redefinition::new(redefinition.definition)
        }),
        "definition_is_replaced_once values_exclude_a_definition_or_are_dropped \
         values_are_converted_to_another_kind types_and_years_can_be_left_out",
    ),
];
