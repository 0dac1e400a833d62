//! What records come to in a catalogue.

use std::sync::{Arc, Mutex};

use robot_core::{
    Catalogue, CatalogueExt, Change, Draft, Error, MemoryCatalogue, PageRequest, Pages, Pending,
    Result, Robot, RobotId, ValidChanges, ValidDraft,
    transfer::{
        AfterFailure, Format, ImportOptions, OnConflict, Records, Rehearsal, Stored, import,
    },
};

const TAKEN: &str = "The robot name must be unique";

/// Runs a test on a store whose writes are under way together, and on one where each is made when
/// its turn has come.
fn on_both_kinds_of_store(test: impl Fn(Arc<dyn Catalogue>)) {
    test(Arc::new(MemoryCatalogue::new()));
    #[cfg(feature = "sqlite")]
    {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        test(robot_core::open(&url).unwrap());
    }
}

/// Imports NDJSON. Each outcome as a line of text.
fn outcomes(catalogue: &Arc<dyn Catalogue>, file: &str, options: ImportOptions) -> Vec<String> {
    let records = Records::new(file.as_bytes(), Format::Ndjson);
    import(Arc::clone(catalogue), records, options)
        .map(|outcome| match outcome.result {
            Ok(Stored::Added) => format!("{} added", outcome.line),
            Ok(Stored::Replaced) => format!("{} replaced", outcome.line),
            Ok(Stored::Skipped) => format!("{} skipped", outcome.line),
            Err(error) => format!("{}: {}", outcome.line, error.messages().join("; ")),
        })
        .collect()
}

/// A robot a line, with the year in which it was made.
fn file(robots: &[(&str, i64)]) -> String {
    let line = |(name, year): &(&str, i64)| {
        format!("{{\"name\":\"{name}\",\"type\":\"droid\",\"year\":{year}}}\n")
    };
    robots.iter().map(line).collect()
}

fn kept(catalogue: &Arc<dyn Catalogue>) -> Vec<(String, i64)> {
    Pages::new(catalogue, "")
        .flat_map(|page| page.unwrap())
        .map(|robot| (robot.name().to_owned(), robot.year()))
        .collect()
}

fn options() -> ImportOptions {
    ImportOptions::default()
}

const MIXED: &str = "\
    {\"name\":\"a\",\"type\":\"droid\",\"year\":1}\n\
    {\"name\":\"b\",\"type\":\"toaster\",\"year\":-1}\n\
    {\"name\":\"a\",\"type\":\"droid\",\"year\":2}\n\
    {\"name\":\"a\",\"type\":\"toaster\",\"year\":3}\n\
    {\"name\":5}\n\
    {\"name\":\"old\",\"type\":\"virtual\",\"year\":4}\n\
    {\"name\":\"c\",\"type\":\"droid\",\"year\":5}\n";

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual";

/// What [`MIXED`] comes to in a catalogue that has `old`.
fn outcomes_of_mixed(on_conflict: OnConflict) -> Vec<String> {
    let of_a_taken_name = |line: u64| match on_conflict {
        OnConflict::Fail => format!("{line}: {TAKEN}"),
        OnConflict::Skip => format!("{line} skipped"),
        OnConflict::Replace => format!("{line} replaced"),
    };
    vec![
        "1 added".to_owned(),
        format!("2: {TYPE}; The year cannot be less than zero"),
        of_a_taken_name(3),
        match on_conflict {
            OnConflict::Fail => format!("4: {TYPE}; {TAKEN}"),
            _ => format!("4: {TYPE}"),
        },
        "5: name must be a string".to_owned(),
        of_a_taken_name(6),
        "7 added".to_owned(),
    ]
}

#[test]
fn each_record_comes_to_what_it_is_and_names_that_are_taken_to_what_was_asked_for() {
    for (on_conflict, expected) in [
        (OnConflict::Fail, [("a", 1), ("c", 5), ("old", 0)]),
        (OnConflict::Skip, [("a", 1), ("c", 5), ("old", 0)]),
        (OnConflict::Replace, [("a", 2), ("c", 5), ("old", 4)]),
    ] {
        on_both_kinds_of_store(|catalogue| {
            let old = catalogue.add(Draft::new("old", "droid", 0)).unwrap();
            let options = options()
                .on_conflict(on_conflict)
                .after_failure(AfterFailure::GoOn);
            assert_eq!(
                outcomes(&catalogue, MIXED, options),
                outcomes_of_mixed(on_conflict)
            );
            assert_eq!(
                kept(&catalogue),
                expected.map(|(name, year)| (name.to_owned(), year))
            );
            assert_eq!(catalogue.find("old").unwrap().unwrap().id(), old.id());
        });
    }
}

#[test]
fn a_rehearsal_tells_the_same_and_stores_nothing() {
    for on_conflict in [OnConflict::Fail, OnConflict::Skip, OnConflict::Replace] {
        on_both_kinds_of_store(|catalogue| {
            catalogue.add(Draft::new("old", "droid", 0)).unwrap();
            let options = options()
                .on_conflict(on_conflict)
                .after_failure(AfterFailure::GoOn)
                .rehearsal(Rehearsal::Yes);
            assert_eq!(
                outcomes(&catalogue, MIXED, options),
                outcomes_of_mixed(on_conflict)
            );
            assert_eq!(kept(&catalogue), [("old".to_owned(), 0)]);
        });
    }
}

#[test]
fn an_import_that_stops_has_stored_all_before_the_bad_record_and_nothing_behind_it() {
    let names: Vec<String> = (0..3000).map(|number| format!("RX-{number:04}")).collect();
    let good: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for (bad, message) in [
        (("taken", 1), TAKEN),
        (("RX-1999", 1), TAKEN),
        (("RX-0003", 1), TAKEN),
        (("new", -1), "The year cannot be less than zero"),
    ] {
        on_both_kinds_of_store(|catalogue| {
            catalogue.add(Draft::new("taken", "droid", 0)).unwrap();
            let mut robots = good.clone();
            robots.insert(2000, bad);
            let outcomes = outcomes(&catalogue, &file(&robots), options());
            assert_eq!(outcomes.len(), 2001);
            assert_eq!(outcomes[2000], format!("2001: {message}"));
            assert!(
                outcomes[..2000]
                    .iter()
                    .all(|outcome| outcome.ends_with(" added"))
            );
            assert_eq!(kept(&catalogue).len(), 2001);
            assert!(catalogue.find("RX-1999").unwrap().is_some());
            assert!(catalogue.find("RX-2000").unwrap().is_none());
        });
    }
}

#[test]
fn of_records_with_the_same_name_the_last_one_counts_where_they_replace() {
    on_both_kinds_of_store(|catalogue| {
        let robots: Vec<_> = (0..2500)
            .map(|year| (["a", "b", "c"][usize::try_from(year % 3).unwrap()], year))
            .collect();
        let options = options().on_conflict(OnConflict::Replace);
        let outcomes = outcomes(&catalogue, &file(&robots), options);
        assert_eq!(outcomes.len(), 2500);
        assert!(
            outcomes[3..]
                .iter()
                .all(|outcome| outcome.ends_with(" replaced"))
        );
        let expected = [("a", 2499), ("b", 2497), ("c", 2498)];
        assert_eq!(
            kept(&catalogue),
            expected.map(|(name, year)| (name.to_owned(), year))
        );
    });
}

#[test]
fn broken_json_ends_an_import_that_goes_on_otherwise() {
    let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    let file = "[{\"name\":\"a\",\"type\":\"droid\",\"year\":1},\n{]";
    let records = Records::new(file.as_bytes(), Format::Json);
    let options = options().after_failure(AfterFailure::GoOn);
    let outcomes: Vec<_> = import(Arc::clone(&catalogue), records, options).collect();
    assert_eq!(outcomes.len(), 2);
    let error = outcomes[1].result.as_ref().unwrap_err();
    assert_eq!((outcomes[1].line, error.is_of_the_record()), (2, false));
    assert_eq!(kept(&catalogue), [("a".to_owned(), 1)]);
}

/// A catalogue whose robots are looked up a moment too early: somebody else adds them between the
/// look and the write.
struct Racing {
    inner: MemoryCatalogue,
    /// How many looks find nothing.
    blind: Mutex<u32>,
    /// How many robots there is room for, where there is too little.
    room: Option<usize>,
}

impl Racing {
    fn with_old(blind: u32) -> Arc<dyn Catalogue> {
        let inner = MemoryCatalogue::new();
        inner.add(Draft::new("old", "droid", 0)).unwrap();
        Arc::new(Self {
            inner,
            blind: Mutex::new(blind),
            room: None,
        })
    }

    fn with_room(room: usize) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            inner: MemoryCatalogue::new(),
            blind: Mutex::new(0),
            room: Some(room),
        })
    }
}

impl Catalogue for Racing {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        if let Some(room) = self.room
            && self.inner.list()?.len() >= room
        {
            return Err(Error::unavailable("the disk is full"));
        }
        self.inner.insert(draft)
    }
    /// Where there is too little room, many writes are under way when that is noticed.
    fn begin(self: Arc<Self>, change: Change) -> Pending<Result<RobotId>> {
        match self.room {
            Some(_) => Pending::Ready(change.apply_to(&*self)),
            None => Pending::blocking(move || change.apply_to(&*self)),
        }
    }
    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.inner.update(id, changes)
    }
    fn delete(&self, id: RobotId) -> Result<()> {
        self.inner.delete(id)
    }
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.inner.get(id)
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let mut blind = self.blind.lock().unwrap();
        if *blind > 0 {
            *blind -= 1;
            return Ok(None);
        }
        self.inner.find(name)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.inner.page(request)
    }
    fn restore(&self, robots: &[Robot], last_id: Option<RobotId>) -> Result<()> {
        self.inner.restore(robots, last_id)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.inner.last_id()
    }
}

#[test]
fn a_name_that_somebody_else_takes_meanwhile_is_dealt_with_as_one_that_was_taken_before() {
    let robots = file(&[("old", 7), ("new", 8)]);
    for (on_conflict, first, year) in [
        (OnConflict::Fail, format!("1: {TAKEN}"), 0),
        (OnConflict::Skip, "1 skipped".to_owned(), 0),
        (OnConflict::Replace, "1 replaced".to_owned(), 7),
    ] {
        let catalogue = Racing::with_old(2);
        let options = options()
            .on_conflict(on_conflict)
            .after_failure(AfterFailure::GoOn);
        assert_eq!(
            outcomes(&catalogue, &robots, options),
            [first, "2 added".to_owned()]
        );
        assert_eq!(
            kept(&catalogue),
            [("new".to_owned(), 8), ("old".to_owned(), year)]
        );
    }
}

#[test]
fn a_store_that_is_full_is_told_of_once_and_ends_the_import() {
    let names: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let robots: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for after_failure in [AfterFailure::Stop, AfterFailure::GoOn] {
        let catalogue = Racing::with_room(3);
        let options = options().after_failure(after_failure);
        let outcomes = outcomes(&catalogue, &file(&robots), options);
        assert_eq!(outcomes[..3], ["1 added", "2 added", "3 added"]);
        assert!(
            outcomes[3].starts_with("4: The catalogue is busy"),
            "{}",
            outcomes[3]
        );
        assert_eq!(outcomes.len(), 4);
    }
}

#[test]
fn a_race_that_is_lost_stops_an_import_that_stops() {
    let catalogue = Racing::with_old(2);
    assert_eq!(
        outcomes(&catalogue, &file(&[("old", 7), ("new", 8)]), options()),
        [format!("1: {TAKEN}")]
    );
    assert_eq!(kept(&catalogue), [("old".to_owned(), 0)]);
}
