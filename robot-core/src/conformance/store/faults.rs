//! The seeded faults, and the cases that find each of them.

use std::{thread, time::Duration};

use super::{faulty_store::Fault, ok, restore, valid};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Changes, Cursor, Error, Filter, PageRequest, Place,
        Position, Receipt, Redefinition, Result,
    },
    memory::MemoryCatalogue,
    model::{
        Audit, Draft, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft, Value, Violation,
    },
};

/// How long other callers see a half of a change: long enough for another thread to run.
const GAP: Duration = Duration::from_micros(200);

/// A fault, and cases that fail because of it.
pub(super) type Seeded = (Fault, &'static str);

macro_rules! seeded {
    ($($fault:ident $(($function:expr))? => $cases:literal,)*) => { &[$((Fault::$fault $(($function))?, $cases)),*] };
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

/// Gives a new robot the id after the greatest that exists.
fn reuse_id(store: &MemoryCatalogue, change: Change) -> Result<Receipt> {
    let Change::Insert(draft) = change else {
        return store.apply(change);
    };
    let newest = store.list()?.iter().map(|robot| robot.id().get()).max();
    let id = super::id(newest.unwrap_or(0) + 1);
    thread::sleep(GAP);
    if store.find(draft.name())?.is_some() {
        return Err(Violation::NAME_TAKEN.into());
    }
    restore(store, &[draft.with_id(id)], None).map(|()| added(id))
}

fn added(id: RobotId) -> Receipt {
    let revision = Some(Revision::FIRST);
    Receipt { id, revision }
}

/// The change without the revision that it expects.
fn unconditional(change: Change) -> Change {
    match change {
        Change::Update(id, _, changes) => Change::Update(id, None, changes),
        Change::Delete(id, _) => Change::Delete(id, None),
        other => other,
    }
}

/// A filter with all conditions of another, but another text.
fn with_text(filter: &Filter, text: &str) -> Filter {
    filter.clone().containing(text)
}

/// A store with robots of another, and perhaps its last id, but not its last revision.
fn copy(robots: Vec<Robot>, last_id: Option<RobotId>) -> MemoryCatalogue {
    let id = robots.iter().map(Robot::id).max().max(last_id);
    let revision = robots.iter().map(|robot| robot.revision().get()).max();
    MemoryCatalogue::of(robots, id.map_or(0, RobotId::get), revision.unwrap_or(0))
}

/// The definition of which no field has a keyword.
fn without(redefinition: &Redefinition, keyword: &str) -> Redefinition {
    let document = redefinition.definition.to_string();
    let document = document.replace(
        &format!("\"{keyword}\": true"),
        &format!("\"{keyword}\": false"),
    );
    Redefinition::new(super::own_fields::parse(&document))
}

/// All faults.
pub(super) const ALL: &[Seeded] = seeded! {
    // Names are trimmed and cut, years have 31 bits, and own values are lost.
    Insert(|store, draft| {
        let name: String = draft.name().trim().chars().take(200).collect();
        let altered = Draft {
            name: Some(name.into()),
            robot_type: draft.robot_type().map(Into::into),
            year: Some(draft.year().unwrap_or_default() & 0x7fff_ffff),
            ..Draft::default()
        };
        let altered = store.definition().validate(altered).unwrap_or(draft);
        store.apply(Change::Insert(altered))
    }) => "names_are_compared_by_bytes names_of_maximum_length_are_stored every_type_and_year_is_stored \
        types_and_years_may_be_missing values_of_every_kind_are_stored \
        own_filters_and_orders_are_paged_and_counted texts_are_compared_by_bytes_with_and_without_an_index",
    Change(reuse_id) => "ids_are_never_reused concurrent_different_inserts_all_succeed \
        ids_are_unique_during_restorations",
    // A change to a taken name is ignored.
    Change(|store, change| {
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
                Ok(added(id))
            }
            result => result,
        }
    }) => "taken_name_is_rejected rejected_changes_keep_the_revision refused_changes_are_not_kept_when_reopened \
        names_are_still_unique_when_reopened concurrent_equal_inserts_succeed_once \
        concurrent_operations_are_linearizable \
        concurrent_renames_are_linearizable",
    // Changes of missing robots succeed.
    Change(|store, change| match store.apply(change) {
        Err(Error::NotFound(id)) => Ok(added(id)),
        result => result,
    }) => "change_of_missing_robot_is_not_found deleted_robot_is_not_found \
        conditional_change_of_missing_robot_is_not_found",
    // Released names stay taken.
    Insert(|store, draft| {
        let is_changed = |robot: &Robot| robot.revision() > Revision::FIRST;
        if store.list()?.iter().any(is_changed) {
            return Err(Violation::NAME_TAKEN.into());
        }
        store.apply(Change::Insert(draft))
    }) => "released_name_can_be_used_again",
    // Updates set another type.
    Update(|store, id, changes| {
        let other = Some("mechanical".to_owned());
        let changes = altered(&changes, |draft| draft.robot_type = other.map(Into::into));
        store.apply(Change::Update(id, None, changes))
    }) => "replace_sets_all_members patch_changes_only_given_members",
    // The receipt of each change has the first revision.
    Change(|store, change| store.apply(change).map(|receipt| added(receipt.id))) =>
        "every_change_gets_the_next_revision concurrent_operations_are_linearizable \
        concurrent_changes_of_one_robot_are_linearizable concurrent_renames_are_linearizable",
    // Expected revisions are ignored.
    Change(|store, change| store.apply(unconditional(change))) => "stale_update_changes_nothing \
        stale_delete_changes_nothing stale_revision_takes_precedence_over_the_rules",
    LateChange => "change_is_not_cancelled_by_dropping_its_result",
    // Changes are applied one by one.
    ApplyAll(|store, changes| {
        let apply = |change| {
            thread::sleep(GAP);
            store.apply(change)
        };
        changes.into_iter().map(apply).collect()
    }) => "failing_change_prevents_all many_changes_are_applied_together \
        changes_together_are_between_positions many_conditional_changes_are_applied_together reader_never_sees_a_part_of_the_changes \
        concurrent_equal_changes_succeed_once concurrent_changes_of_the_same_robots_are_serial",
    ApplyAll(|store, changes| changes.into_iter().map(|change| reuse_id(store, change)).collect()) =>
        "ids_of_changes_applied_together_are_not_reused",
    // Ids of changes are sorted, and one is needed.
    ApplyAll(|store, changes| {
        let mut receipts = store.apply_all(changes)?;
        receipts.sort_by_key(|receipt| receipt.id);
        receipts.first().ok_or_else(|| Error::store("no change"))?;
        Ok(receipts)
    }) => "changes_of_all_kinds_are_applied_together no_changes_are_applied \
        changes_take_names_that_earlier_ones_release",
    // Updates write the members that they have read.
    Update(|store, id, changes| {
        let read = store.get(id)?.ok_or(Error::NotFound(id))?;
        thread::sleep(GAP);
        let whole = Draft::from(changes.apply_to(&read, read.revision()));
        store.apply(Change::Update(id, None, valid(whole).into()))
    }) => "concurrent_changes_of_one_robot_are_linearizable",
    // The year is written after the other members.
    Update(|store, id, changes| {
        store.update(id, altered(&changes, |draft| draft.year = None))?;
        thread::sleep(GAP);
        store.apply(Change::Update(id, None, changes))
    }) => "concurrent_changes_of_one_robot_are_linearizable",
    // Revisions are compared before the change.
    Change(|store, change| {
        if let Change::Update(id, Some(revision), _) | Change::Delete(id, Some(revision)) = &change {
            let robot = store.get(*id)?.ok_or(Error::NotFound(*id))?;
            if robot.revision() != *revision {
                return Err(Error::Stale(*id));
            }
            thread::sleep(GAP);
        }
        store.apply(unconditional(change))
    }) => "concurrent_operations_are_linearizable concurrent_changes_of_one_robot_are_linearizable",
    // Look-ups find only small ids.
    Get(|store, id| ok(store.get(id)).filter(|_| id.get() < 1_000_000)) => "restored_robots_keep_their_ids",
    // Names are found without case.
    Find(|store, name| {
        let mut robots = ok(store.list()).into_iter();
        robots.find(|robot| robot.name().eq_ignore_ascii_case(name))
    }) => "find_matches_the_exact_name",
    // Names are not found.
    Find(|_, _| None) => "added_robot_can_be_read all_violations_are_reported equal_names_are_in_the_order_of_ids",
    // Names are ordered without case.
    Page(|store, request| {
        let mut found = store.page(request)?;
        found.items.sort_by_key(|robot| robot.name().to_lowercase());
        Ok(found)
    }) => "names_are_ordered_and_searched_by_bytes",
    // A page that is limited by bytes is the last one.
    Page(|store, request| {
        let mut page = store.page(request)?;
        page.is_last = page.items.len() < request.limit;
        Ok(page)
    }) => "pages_limited_by_bytes_are_complete",
    // Cursors need their robots.
    Page(|store, request| {
        let is_found = match request.cursor.place() {
            Some(Place { id: Some(id), .. }) => store.get(*id)?.is_some(),
            Some(Place { value: Some(Value::Text(name)), .. }) => store.find(name)?.is_some(),
            _ => true,
        };
        let start = Cursor::start(request.cursor.sort().clone());
        let cursor = if is_found { request.cursor } else { &start };
        store.page(PageRequest { cursor, ..request })
    }) => "pages_start_after_any_text cursor_needs_no_robot changes_between_pages_repeat_no_robot",
    // Pages have one robot too few.
    Page(|store, request| store.page(PageRequest { limit: request.limit.saturating_sub(1), ..request })) =>
        "every_filter_and_order_is_paged_and_counted",
    // Searches find no changed robots.
    Page(|store, request| {
        let has_text = !request.filter.containing.is_empty();
        let mut found = store.page(request)?;
        // While robots are only added, their ids are their revisions.
        found.items.retain(|robot| !has_text || robot.revision().get() == robot.id().get());
        Ok(found)
    }) => "search_finds_the_latest_names folded_search_finds_the_latest_names",
    // Searches ignore case.
    Filter(|filter| filter.clone().folded()) => "search_matches_parts_of_names",
    // Searches have wildcards.
    Filter(|filter| with_text(filter, &filter.containing.replace(['%', '_', '*'], ""))) =>
        "names_are_ordered_and_searched_by_bytes folded_search_has_no_wildcards",
    // Searches end at NUL.
    Filter(|filter| with_text(filter, filter.containing.split('\0').next().unwrap_or_default())) =>
        "search_matches_parts_of_names filters_with_nul_match_nothing",
    // Searches ignore their text.
    Filter(|filter| with_text(filter, "")) => "folded_search_of_any_part_is_complete",
    // Types are ignored.
    Filter(|filter| {
        let types = Field::TYPE.choices().iter().cloned();
        types.fold(filter.clone(), |filter, one| filter.with(Field::TYPE, one.into_owned()))
    }) => "filters_combine folded_searches_are_filtered_paged_and_counted",
    // Texts that values do not have, and their parts, are ignored.
    Filter(|filter| {
        let mut filter = filter.clone();
        for field in &mut filter.fields {
            field.none_of.clear();
            field.containing.clear();
        }
        filter
    }) => "parts_and_other_values_choose_robots",
    // Diacritics and case are not folded.
    Filter(|filter| Filter::from(&*filter.containing)) => "folded_search_ignores_case_and_diacritics",
    Filter(|filter| with_text(filter, &filter.containing.replace('ı', "i"))) =>
        "folded_search_compares_other_characters",
    // Counts ignore the filter.
    CountFilter(|_| Filter::all()) => "most_frequent_values_are_first every_filter_and_order_is_paged_and_counted",
    // The last id is that of the newest robot.
    LastId(|store| ok(store.list()).iter().map(Robot::id).max()) => "last_id_is_kept_after_delete",
    // Conflicts are skipped.
    Restore(|store, restoration| {
        for robot in restoration.robots().iter().cloned() {
            let _ = restore(store, &[robot], None);
        }
        restore(store, &[], restoration.last_id())
    }) => "conflicting_restoration_leaves_nothing_behind concurrent_equal_restorations_succeed_once",
    // Robots before a conflict are restored.
    Restore(|store, restoration| {
        for robot in restoration.robots().iter().cloned() {
            restore(store, &[robot], restoration.last_id())?;
        }
        Ok(())
    }) => "conflicting_restoration_leaves_nothing_behind large_restoration_is_atomic",
    // Restored robots get new ids.
    Restore(|store, restoration| {
        let drafts = restoration.robots().iter().cloned().map(Draft::from);
        let inserts = drafts.map(|draft| Change::Insert(valid(draft)));
        store.apply_all(inserts.collect()).map(drop)
    }) => "every_valid_robot_can_be_restored new_ids_are_greater_than_restored_ids \
        restored_robots_can_be_changed_and_deleted restored_robots_are_kept_when_reopened",
    // Robots are restored in the reverse order.
    Restore(|store, restoration| {
        let mut robots = restoration.robots().iter().rev().cloned();
        robots.try_for_each(|robot| restore(store, &[robot], restoration.last_id()))
    }) => "restored_robots_get_the_next_revisions",
    // Changes are in no order.
    Changes(|changes| {
        let mut changes = changes?;
        changes.events.reverse();
        Ok(changes)
    }) => "changes_are_in_order_and_robots_are_once changes_start_at_a_time_or_before_the_last_ones",
    // Deletions are not among the changes.
    Changes(|changes| {
        let mut changes = changes?;
        changes.events.retain(|event| event.robot.is_some());
        Ok(changes)
    }) => "followers_have_the_state_of_the_catalogue",
    // After the positions of others, there are no changes.
    Changes(|changes| changes.or_else(|_| {
        let (events, next, is_last) = (Vec::new(), Position::new("x", 0), true);
        Ok(Changes { events, next, is_last })
    })) => "positions_of_others_are_gone versions_are_pruned_from_the_oldest",
    // Changes that others have followed are not listed.
    EveryChange(|changes| {
        let mut changes = changes?;
        changes.events.pop();
        Ok(changes)
    }) => "every_change_is_listed_once",
    // Only the last change is in the history.
    History(|events| events.truncate(1)) => "history_has_every_version_and_author \
        versions_come_back_under_the_rules_of_today changes_of_the_definition_are_kept \
        released_names_are_taken_back",
    // The history has no authors.
    History(|events| events.iter_mut().for_each(|event| event.by = None)) =>
        "history_has_every_version_and_author changes_of_one_author_are_undone",
    // Robots have no times.
    Page(|store, request| {
        let mut page = store.page(request)?;
        let robots = page.items.into_iter().map(|robot| robot.with_audit(Audit::default()));
        page.items = robots.collect();
        Ok(page)
    }) => "times_and_authors_choose_and_sort_robots",
    // Opening adds a robot.
    Open(|store| {
        let added = copy(ok(store.list()), ok(store.last_id()));
        let name = format!("sample {:?}", ok(store.last_id()));
        super::add(&added, &name);
        added
    }) => "empty_catalogue_has_no_robots empty_catalogue_is_still_empty_when_reopened \
        ids_above_the_maximum_are_not_restored",
    // Nothing is kept.
    Open(|_| MemoryCatalogue::new()) => "definition_and_values_are_kept_when_reopened \
        robots_are_kept_when_reopened changes_applied_together_are_kept_when_reopened \
        search_finds_kept_robots_when_reopened",
    // Changes are not kept.
    Open(|store| {
        let robots = ok(store.list()).into_iter();
        let robots = robots.map(|robot| robot.with_revision(Revision::FIRST));
        copy(robots.collect(), ok(store.last_id()))
    }) => "changes_and_deletes_are_kept_when_reopened",
    // The last id and the last revision are not kept.
    Open(|store| copy(ok(store.list()), None)) => "ids_are_never_reused_when_reopened \
        changes_and_deletes_are_kept_when_reopened",
    // Values are stored that an earlier definition has checked.
    Insert(|store, draft| store.apply(Change::Insert(ValidDraft::from_stored(draft.into())))) =>
        "changes_are_checked_by_the_present_definition",
    // Values may be equal.
    Define(|redefinition| without(&redefinition, "unique")) => "taken_values_are_reported_in_order equal_values_are_equal_in_every_form \
        concurrent_equal_values_succeed_once taken_value_prevents_all_changes own_values_are_restored \
        duplicates_exclude_a_unique_field values_stay_unique_while_they_are_defined",
    // Searches do not include own fields.
    Define(|redefinition| without(&redefinition, "search")) => "searches_find_own_values_after_every_change",
    // The revision and the values of robots are ignored.
    Define(|redefinition| Redefinition {
        drops_values: true,
        ..Redefinition::new(redefinition.definition)
    }) => "definition_is_replaced_once values_exclude_a_definition_or_are_dropped \
        values_are_converted_to_another_kind types_and_years_can_be_left_out",
};
