//! Copies of catalogues and their digests.

use std::ops::ControlFlow;

use robot_core::{
    Catalogue, CatalogueExt, Definition, Draft, Error, Field, MemoryCatalogue, Pages, Redefinition,
    Restoration, Robot, RobotId, ValidDraft, Violation,
    transfer::{CopyError, CopyProgress, CopyStage, copy, digest},
};

fn robot(number: i64, name: &str) -> Robot {
    let draft = ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap();
    draft.with_id(RobotId::new(number).unwrap())
}

/// A catalogue of robots whose ids are not in the order of their names.
fn source(count: i64) -> MemoryCatalogue {
    let catalogue = MemoryCatalogue::new();
    let robots =
        (0..count).map(|number| robot(1 + (number * 7919) % 1_000_003, &format!("RX-{number:06}")));
    restore(&catalogue, robots);
    catalogue
}

fn restore(catalogue: &MemoryCatalogue, robots: impl IntoIterator<Item = Robot>) {
    let restoration = Restoration::new(robots, None).unwrap();
    catalogue.restore(&restoration).unwrap();
}

fn proceed(_: CopyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn copy_has_the_same_robots_and_ids() {
    for count in [0, 9000] {
        let (source, target) = (source(count), MemoryCatalogue::new());
        let copied = copy(&source, &target, proceed).unwrap();
        assert_eq!(i64::try_from(copied.robots), Ok(count));
        assert_eq!(copied, digest(&source).unwrap());
        assert_eq!(target.list().unwrap(), source.list().unwrap());
        let times = |catalogue: &MemoryCatalogue| -> Vec<_> {
            let pages = Pages::new(catalogue, "").with_fields(Field::AUDIT.into());
            let robots = pages.flat_map(Result::unwrap);
            robots.map(|robot| robot.audit().cloned()).collect()
        };
        assert_eq!(times(&target), times(&source));
        assert_eq!(target.last_id().unwrap(), source.last_id().unwrap());
    }
}

#[test]
fn ids_assigned_during_the_copy_are_not_reused() {
    let source = source(1);
    let target = MemoryCatalogue::new();
    let mut newest = None;
    copy(&source, &target, |progress| {
        if progress.stage == CopyStage::Copying {
            let temporary = Draft::new("temporary", "droid", 1977);
            let id = source.add(temporary).unwrap().id();
            source.delete(id).unwrap();
            newest = Some(id);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let next = target.add(Draft::new("next", "droid", 1977)).unwrap().id();
    assert!(Some(next) > newest, "{next} and {newest:?}");
}

#[test]
fn cancelled_copy_reports_the_robots_copied() {
    for (stage, expected) in [
        (CopyStage::Copying, 4000),
        (CopyStage::VerifyingTarget, 9000),
    ] {
        let target = MemoryCatalogue::new();
        let outcome = copy(&source(9000), &target, |progress| {
            if progress.stage == stage {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        match outcome {
            Err(CopyError::Cancelled { copied }) => assert_eq!(copied, expected),
            other => panic!("{other:?}"),
        }
        assert_eq!(digest(&target).unwrap().robots, expected);
    }
}

#[test]
fn source_changed_during_the_copy_is_a_mismatch() {
    let source = source(2);
    let mut is_changed = false;
    let outcome = copy(&source, &MemoryCatalogue::new(), |progress| {
        if progress.stage == CopyStage::Copying && !is_changed {
            source.add(Draft::new("a late one", "droid", 1977)).unwrap();
            is_changed = true;
        }
        ControlFlow::Continue(())
    });
    let error = outcome.unwrap_err();
    let message = error.to_string();
    let expected = "another program changed one of them meanwhile";
    assert!(message.contains(expected), "{message}");
    let CopyError::Mismatch {
        source_digest,
        target_digest,
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!((source_digest.robots, target_digest.robots), (3, 2));
}

#[test]
fn target_filled_by_another_program_is_an_error() {
    let (source, target) = (source(5000), MemoryCatalogue::new());
    let robots = source.list().unwrap();
    let last = robots.iter().max_by_key(|robot| robot.id()).unwrap();
    let outcome = copy(&source, &target, |progress| {
        if progress.robots == 4000 {
            restore(&target, [robot(2_000_000, last.name())]);
        }
        ControlFlow::Continue(())
    });
    match outcome {
        Err(CopyError::Target(Error::NotRestored { violation, .. })) => {
            assert_eq!(violation, Violation::NAME_TAKEN);
        }
        other => panic!("{other:?}"),
    }
}

const OWN: &str = r#"{"title": "Robots", "properties": {
    "type": {"enum": ["vase"]},
    "maker": {"type": "string"},
    "serial": {"type": "integer", "unique": true}}}"#;

fn defined(document: &str) -> MemoryCatalogue {
    let catalogue = MemoryCatalogue::new();
    let definition = document.parse().unwrap();
    catalogue.define(Redefinition::new(definition)).unwrap();
    catalogue
}

#[test]
fn copy_brings_the_definition_and_own_values_along() {
    let source = defined(OWN);
    for (name, serial) in [("a", 1), ("b", 9_007_199_254_740_993_i64)] {
        let mut draft = Draft::new(name, "vase", 1977);
        draft.set("maker", "ACME");
        draft.set("serial", serial);
        source.add(draft).unwrap();
    }
    // The second target has the same definition already.
    for target in [MemoryCatalogue::new(), defined(OWN)] {
        assert_eq!(copy(&source, &target, proceed).unwrap().robots, 2);
        assert_eq!(target.list().unwrap(), source.list().unwrap());
        assert_eq!(*target.definition(), OWN.parse::<Definition>().unwrap());
        let first = digest(&target).unwrap();
        let changed = serde_json::from_str(r#"{"maker":"ACMF"}"#).unwrap();
        target.patch(RobotId::new(1).unwrap(), changed).unwrap();
        assert_ne!(digest(&target).unwrap(), first);
    }
}

#[test]
fn copy_into_another_definition_names_the_differences() {
    let source = defined(OWN);
    source.add(Draft::new("a", "vase", 1977)).unwrap();
    let order = "the title, the noun or the order of the fields";
    for (from, to, fields) in [
        ("vase", "pot", "type"),
        (
            r#""maker": {"type": "string"}"#,
            r#""made_by": {"type": "string"}"#,
            "made_by, maker",
        ),
        ("integer", "number", "serial"),
        ("}}}", r#"}}, "required": ["name", "type"]}"#, "year"),
        ("Robots", "Vases", order),
    ] {
        let document = OWN.replace(from, to);
        let target = defined(&document);
        let error = copy(&source, &target, proceed).unwrap_err();
        let CopyError::OtherDefinition { fields: differing } = error else {
            panic!("{document}: {error:?}");
        };
        assert_eq!(differing, fields, "{document}");
        assert!(target.list().unwrap().is_empty());
    }
}
