//! Seeded bugs of stores, and the cases that find them.

/// The bugs, each with cases that fail because of it.
macro_rules! bugs {
    ($($bug:ident => [$($case:literal),+ $(,)?],)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Bug { None, $($bug),+ }

        pub(super) const BUGS: &[(Bug, &[&str])] = &[$((Bug::$bug, &[$($case),+])),+];
    };
}

bugs! {
    RobotAddedByOpening => [
        "empty_catalogue_has_no_robots",
        "empty_catalogue_is_still_empty_when_reopened",
    ],
    NamesTrimmed => ["names_are_compared_by_bytes"],
    NamesTruncated => ["names_of_maximum_length_are_stored"],
    YearsTruncated => ["every_type_and_year_is_stored"],
    IdsReused => ["new_ids_are_unique"],
    LowestFreeId => ["ids_are_never_reused"],
    RefusedInsertChangesOther => [
        "add_with_taken_name_is_rejected",
        "refused_changes_are_not_kept_when_reopened",
    ],
    UpdateOfMissingSucceeds => ["replace_of_missing_robot_is_not_found"],
    OwnNameIsTaken => ["replace_may_keep_the_name"],
    RefusedUpdateChangesOtherMembers => ["replace_with_taken_name_changes_nothing"],
    UpdateLeavesNameTaken => ["released_name_can_be_used_again"],
    UpdateLeavesSearch => ["search_finds_the_latest_names"],
    UpdateIgnoresType => ["replace_sets_all_members"],
    DeleteOfMissingSucceeds => ["deleted_robot_is_not_found"],
    DeleteLeavesSearch => ["search_finds_the_latest_names"],
    DeleteLeavesNameTaken => ["released_name_can_be_used_again"],
    GetFindsOnlySmallIds => ["restored_robots_keep_their_ids"],
    FindIgnoresCase => ["find_matches_the_exact_name"],
    FindEndsAtNul => ["find_matches_the_exact_name"],
    OrderById => ["names_are_ordered_by_bytes"],
    OrderIgnoresCase => ["names_are_ordered_by_bytes"],
    AfterIsInclusive => ["pages_are_ordered_and_complete"],
    AfterIgnoredInSearch => ["pages_of_a_search_contain_only_matches"],
    AfterMustExist => ["pages_start_after_any_text"],
    SearchIgnoresCase => ["search_compares_bytes"],
    SearchFindsPrefixes => ["search_matches_any_part_of_a_name"],
    SearchHasWildcards => ["search_has_no_wildcards"],
    SearchEndsAtNul => ["search_without_matches_is_empty"],
    LimitOneTooHigh => ["pages_are_ordered_and_complete"],
    LimitOneTooLow => ["pages_are_ordered_and_complete"],
    LimitOverflows => ["pages_of_any_size_are_returned"],
    EntriesIgnoreSearch => ["entries_have_the_ids_and_names_of_pages"],
    EntriesIgnoreFilter => ["every_filter_and_order_is_paged"],
    TypesIgnored => ["filters_combine"],
    LastYearIgnored => ["filters_combine"],
    LastYearIsExclusive => ["filters_combine"],
    OrderOfYearsOnly => ["every_filter_and_order_is_paged"],
    CursorIgnoresTies => ["every_filter_and_order_is_paged"],
    CountIgnoresFilter => ["counts_and_summaries_have_the_filter"],
    SummaryRoundsYears => ["counts_and_summaries_have_the_filter"],
    RestoreReplacesTakenIds => ["taken_id_restores_nothing"],
    RestoreReportsNameFirst => ["taken_id_restores_nothing"],
    RestoreReportsLastConflict => ["conflict_is_reported_for_the_lowest_id"],
    RestoreSkipsConflicts => ["taken_name_restores_nothing"],
    RestoreIgnoresIds => ["new_ids_are_greater_than_restored_ids"],
    RestoreIgnoresLastId => ["new_ids_are_greater_than_the_restored_last_id"],
    RestoreLowersLastId => ["new_ids_are_greater_than_restored_ids"],
    RestoreLeavesSearch => ["restored_robots_keep_their_ids"],
    RestoreInBatches => ["large_restoration_is_atomic"],
    RefusedRestorationLeavesRobots => ["refused_restoration_leaves_nothing_behind"],
    RefusedRestorationLeavesNames => ["refused_restoration_leaves_nothing_behind"],
    RefusedRestorationLeavesSearch => ["refused_restoration_leaves_nothing_behind"],
    LastIdIsNewestRobot => ["last_id_is_kept_after_delete"],
    SubmitDeclinesAnother => ["submitted_changes_take_effect"],
    SubmitIgnoresUpdates => ["submitted_changes_check_the_rules"],
    SubmitIsCancelledByDrop => ["submitted_change_is_not_cancelled_by_dropping_its_result"],
    SubmittedGetFindsDeleted => ["submitted_get_finds_the_latest_state"],
    UpdateKeepsRevision => [
        "every_change_increases_the_revision",
        "concurrent_conditional_changes_are_all_kept",
    ],
    UpdateIfIgnoresRevision => [
        "stale_update_changes_nothing",
        "stale_revision_takes_precedence_over_the_rules",
        "submitted_changes_expect_revisions",
    ],
    DeleteIfIgnoresRevision => [
        "stale_delete_changes_nothing",
        "submitted_changes_expect_revisions",
    ],
    RestoreIgnoresRevisions => ["restored_robots_keep_their_revisions"],
    FileDeletedAfterOpening => ["robots_are_kept_when_reopened"],
    SearchIndexNotSaved => ["search_finds_kept_robots_when_reopened"],
    NameIndexNotSaved => ["names_are_still_unique_when_reopened"],
    LastIdNotSaved => ["ids_are_never_reused_when_reopened"],
    InsertsNotSaved => ["robots_are_kept_when_reopened"],
    UpdatesNotSaved => ["changes_and_deletes_are_kept_when_reopened"],
    DeletesNotSaved => ["changes_and_deletes_are_kept_when_reopened"],
    RestoresNotSaved => ["restored_robots_are_kept_when_reopened"],
}
