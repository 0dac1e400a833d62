//! Checks of a catalogue through its trait: rules, names and the last id.

use std::{cmp::Ordering, ops::ControlFlow};

use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Check, CheckError, CheckReport, Error, Pages, Result,
        Sort, check::FINDING_LIMIT,
    },
    model::{Definition, Draft, Field, Revision, Robot, RobotId, Rule, Violation},
};

/// Number of robots per page. Lower, and more queries; higher, and the caller can stop the check less
/// often.
const PAGE: usize = 4000;

/// Reads all robots of a catalogue, and checks that each keeps the rules (except for those of the owner, which may be
/// newer), that names are unique and in order, and that no id is greater than the last one. Other programs may change
/// the catalogue meanwhile. Memory is constant.
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
/// let report = check(&catalogue, |_| ControlFlow::Continue(()))?;
/// assert!(report.is_passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check<C: Catalogue + ?Sized>(
    catalogue: &C,
    mut next: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<CheckReport, CheckError> {
    let definition = catalogue.definition();
    let (mut rules, mut names, mut harmless) = (Vec::new(), Vec::new(), Vec::new());
    let (mut count, mut greatest, mut last) = (0, None, String::new());
    let mut unused: Vec<_> = definition.own().collect();
    for page in Pages::new(catalogue, "").page_size(PAGE) {
        let page = match page {
            Ok(page) => page,
            Err(Error::Store(cause)) => {
                rules.insert(0, cause.to_string());
                return Ok(CheckReport {
                    findings: vec![(Check::Rules, rules)],
                    ..CheckReport::default()
                });
            }
            Err(error) => return Err(error.into()),
        };
        for robot in &page {
            greatest = greatest.max(Some(robot.id()));
            unused.retain(|field| robot.value_of(field).is_none());
            if rules.len().min(harmless.len()) < FINDING_LIMIT {
                for violation in violations(robot, &definition) {
                    let is_of_field = definition.field(violation.field()).is_some();
                    let findings = if is_of_field {
                        &mut rules
                    } else {
                        &mut harmless
                    };
                    if findings.len() < FINDING_LIMIT {
                        findings.push(format!("robot {}: {violation}", robot.id()));
                    }
                }
            }
            let is_behind = match robot.name().cmp(&last) {
                Ordering::Less => true,
                Ordering::Equal => definition.has_unique_names(),
                Ordering::Greater => false,
            };
            if is_behind && names.is_empty() {
                names.push(format!("'{}' is listed after '{last}'", robot.name()));
            }
            robot.name().clone_into(&mut last);
        }
        count += page.len() as u64;
        if next(count).is_break() {
            return Err(CheckError::Cancelled);
        }
    }
    // After the robots: it only grows.
    let last_id = catalogue.last_id()?;
    let is_greater = |id: &RobotId| last_id < Some(*id);
    let ids = greatest.filter(is_greater).map(|greatest| {
        let last_id = last_id.map_or(0, RobotId::get);
        format!("a robot has the id {greatest}, but new ids begin after {last_id}")
    });
    Ok(CheckReport {
        findings: vec![
            (Check::Rules, rules),
            (Check::Names, names),
            (Check::LastId, ids.into_iter().collect()),
        ],
        harmless,
        unused: unused.iter().map(ToString::to_string).collect(),
        robots: Some(count),
    })
}

/// The rules that a stored robot violates. It may be older than a rule of the owner.
fn violations(robot: &Robot, definition: &Definition) -> Vec<Violation> {
    let Err(rejection) = definition.validate(Draft::from(robot.clone())) else {
        return Vec::new();
    };
    let is_first = definition.revision() == Revision::FIRST;
    let violations = rejection.violations.iter();
    let violations = violations.filter(|one| is_first || is_of_every_definition(one));
    violations.cloned().collect()
}

fn is_of_every_definition(violation: &Violation) -> bool {
    violation.rule() == Rule::WrongKind || violation.field() == Field::NAME.name()
}

/// Removes the values of fields that a catalogue does not have, and returns the number of robots that had any. A
/// robot that another program changes at the same time may keep them.
///
/// `next` is called after each page with the number of robots that were read, and can stop the repair.
///
/// # Errors
/// [`CheckError::Catalogue`] if the store fails, or [`CheckError::Cancelled`].
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{MemoryCatalogue, repair};
///
/// assert_eq!(repair(&MemoryCatalogue::new(), |_| ControlFlow::Continue(()))?, 0);
/// # Ok::<(), robot_core::CheckError>(())
/// ```
pub fn repair<C: Catalogue + ?Sized>(
    catalogue: &C,
    mut next: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, CheckError> {
    let definition = catalogue.definition();
    let (mut count, mut repaired) = (0, 0);
    for page in Pages::new(catalogue, "").sorted(Sort::BY_ID) {
        let page = page?;
        for robot in &page {
            let Some(kept) = robot.values().without_leftovers(&definition) else {
                continue;
            };
            let change = Change::Update(robot.id(), Some(robot.revision()), kept.into());
            match catalogue.apply(change) {
                Err(Error::NotFound(_) | Error::Stale(_)) => {}
                changed => {
                    changed?;
                    repaired += 1;
                }
            }
        }
        count += page.len() as u64;
        if next(count).is_break() {
            return Err(CheckError::Cancelled);
        }
    }
    Ok(repaired)
}
