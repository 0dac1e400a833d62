//! Checks of a catalogue through its trait: rules, names, the last id and counts.

use std::{cmp::Ordering, ops::ControlFlow};

use crate::{
    catalogue::{
        Catalogue, Check, CheckError, CheckOutcome, CheckReport, Cursor, Error, Filter, PageItem,
        Pages, Result, check::FINDING_LIMIT,
    },
    model::{Definition, Draft, Entry, Field, Revision, Robot, RobotId, Rule, Value, Violation},
};

/// Number of robots per page. Lower, and more queries; higher, and the caller can stop the check less
/// often.
const PAGE: usize = 4000;

/// Reads all robots of a catalogue, and checks that each keeps the rules (except for those of the owner, which may be
/// newer), that names are unique and in
/// order, that no id is greater than the last one, and that as many names as robots are read. Other
/// programs may change the catalogue meanwhile. Memory is constant.
///
/// `next` is called after each page with the number of robots that were read, and can stop the check.
///
/// # Errors
/// [`CheckError::Catalogue`] if the store is busy or unreachable, or [`CheckError::Cancelled`]. A store
/// that fails to read robots is a finding.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, check};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let report = check(&catalogue, |_, _| ControlFlow::Continue(()))?;
/// assert!(report.is_passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check<C: Catalogue + ?Sized>(
    catalogue: &C,
    mut next: impl FnMut(Check, u64) -> ControlFlow<()>,
) -> Result<CheckReport, CheckError> {
    let mut reading = Reading {
        catalogue,
        next: &mut next,
    };
    let definition = catalogue.definition();
    let mut rules = Findings::default();
    let mut greatest = None;
    let robots = reading.read::<Robot>(Check::Rules, |robot| {
        greatest = greatest.max(Some(robot.id()));
        for message in violations(robot, &definition) {
            rules.add(format!("robot {}: {message}", robot.id()));
        }
    })?;
    let robots = match robots {
        Ok(robots) => robots,
        Err(finding) => return Ok(unreadable(rules, finding)),
    };
    let entries = match reading.read::<Entry>(Check::Count, |_| ())? {
        Ok(entries) => entries,
        Err(finding) => return Ok(unreadable(rules, finding)),
    };
    let counted = reading.compare(&robots, &entries)?;
    // After the robots: it only grows.
    let last_id = catalogue.last_id().map_err(CheckError::Catalogue)?;
    let names = [robots.disorder, entries.disorder];
    Ok(CheckReport {
        outcomes: vec![
            (Check::Rules, rules.outcome()),
            (Check::Names, CheckOutcome::of(names.concat())),
            (Check::LastId, compare_ids(greatest, last_id)),
            (Check::Count, counted),
        ],
        robots: Some(robots.count),
    })
}

/// The messages of the rules that a stored robot violates. It may be older than a rule of the owner.
fn violations(robot: &Robot, definition: &Definition) -> Vec<String> {
    let draft = Draft::from(robot.clone());
    let Err(rejection) = definition.validate(draft) else {
        return Vec::new();
    };
    let is_first = definition.revision() == Revision::FIRST;
    let violations = rejection.violations().iter();
    let violations = violations.filter(|one| is_first || is_of_every_definition(one));
    violations.map(ToString::to_string).collect()
}

fn is_of_every_definition(violation: &Violation) -> bool {
    violation.rule() == Rule::WrongKind || violation.field() == Field::NAME.name()
}

fn compare_ids(greatest: Option<RobotId>, last_id: Option<RobotId>) -> CheckOutcome {
    match (greatest, last_id) {
        (Some(greatest), last_id) if last_id < Some(greatest) => {
            let last_id = last_id.map_or(0, RobotId::get);
            CheckOutcome::Failed(vec![format!(
                "a robot has the id {greatest}, but new ids begin after {last_id}"
            )])
        }
        _ => CheckOutcome::Passed,
    }
}

/// The report if the store fails to read robots.
fn unreadable(mut rules: Findings, finding: String) -> CheckReport {
    rules.add(finding);
    let skipped = |check| {
        let reason = "the robots cannot be read".to_owned();
        (check, CheckOutcome::Skipped(reason))
    };
    let mut outcomes = vec![(Check::Rules, rules.outcome())];
    outcomes.extend([Check::Names, Check::LastId, Check::Count].map(skipped));
    CheckReport {
        outcomes,
        robots: None,
    }
}

/// The first findings of a check, and how many there are.
#[derive(Default)]
struct Findings {
    first: Vec<String>,
    count: usize,
}

impl Findings {
    fn add(&mut self, finding: String) {
        self.count += 1;
        if self.first.len() < FINDING_LIMIT {
            self.first.push(finding);
        }
    }

    fn outcome(mut self) -> CheckOutcome {
        if self.count > self.first.len() {
            let more = self.count - self.first.len();
            self.first.push(format!("and {more} more"));
        }
        CheckOutcome::of(self.first)
    }
}

/// What a pass over all pages found.
struct Pass {
    count: u64,
    /// The first name that is not greater than the one before it.
    disorder: Vec<String>,
}

/// The catalogue that is read.
struct Reading<'a, C: ?Sized> {
    catalogue: &'a C,
    next: &'a mut dyn FnMut(Check, u64) -> ControlFlow<()>,
}

impl<C: Catalogue + ?Sized> Reading<'_, C> {
    /// Reads all items. The inner error is the finding that the store fails.
    fn read<T: PageItem>(
        &mut self,
        check: Check,
        mut process: impl FnMut(&T),
    ) -> Result<Result<Pass, String>, CheckError> {
        let mut pass = Pass {
            count: 0,
            disorder: Vec::new(),
        };
        let has_unique_names = self.catalogue.definition().has_unique_names();
        let mut last = Value::from("");
        let pages = Pages::<_, T>::of(self.catalogue, Filter::all(), Cursor::default());
        for page in pages.page_size(PAGE) {
            let page = match page {
                Ok(page) => page,
                Err(Error::Store(cause)) => return Ok(Err(format!("{cause}"))),
                Err(error) => return Err(error.into()),
            };
            for item in &page {
                let Some(name) = item.value_of(Field::NAME) else {
                    continue;
                };
                let is_behind = match name.compare(&last) {
                    Ordering::Less => true,
                    Ordering::Equal => has_unique_names,
                    Ordering::Greater => false,
                };
                if is_behind && pass.disorder.is_empty() {
                    let finding = format!("'{name}' is listed after '{last}'");
                    pass.disorder.push(finding);
                }
                last = name.into_owned();
                process(item);
            }
            pass.count += u64::try_from(page.len()).unwrap_or(u64::MAX);
            if (self.next)(check, pass.count).is_break() {
                return Err(CheckError::Cancelled);
            }
        }
        Ok(Ok(pass))
    }

    /// Compares the counts of two passes. If they differ, both are counted again: the difference is a
    /// finding only if neither count has changed.
    fn compare(&mut self, robots: &Pass, entries: &Pass) -> Result<CheckOutcome, CheckError> {
        let (robots, names) = (robots.count, entries.count);
        if robots == names {
            return Ok(CheckOutcome::Passed);
        }
        let robots_again = self.read::<Robot>(Check::Count, |_| ())?;
        let names_again = self.read::<Entry>(Check::Count, |_| ())?;
        let is_unchanged =
            |again: Result<Pass, _>, count| again.is_ok_and(|again| again.count == count);
        if is_unchanged(robots_again, robots) && is_unchanged(names_again, names) {
            let finding = format!("{robots} robots are listed, but {names} names");
            return Ok(CheckOutcome::Failed(vec![finding]));
        }
        let reason = "robots were changed meanwhile".to_owned();
        Ok(CheckOutcome::Skipped(reason))
    }
}
