//! Copies from one catalogue to another, in all their outcomes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene is to fail"
)]

use std::{ops::ControlFlow, sync::Arc};

use robot_core::{
    Catalogue, CatalogueDigest, CatalogueExt, CopyError, CopyProgress, CopyStage, Draft, Error,
    MemoryCatalogue, Robot, RobotId, ValidDraft, Violation, copy, digest,
};

fn robot(number: i64, name: &str) -> Robot {
    let draft = ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap();
    draft.with_id(RobotId::new(number).unwrap())
}

/// So many robots, whose ids are in another order than their names.
fn source(count: i64) -> MemoryCatalogue {
    let catalogue = MemoryCatalogue::new();
    let robots: Vec<_> = (0..count)
        .map(|number| robot(1 + (number * 7919) % 1_000_003, &format!("RX-{number:06}")))
        .collect();
    catalogue.restore(&robots, None).unwrap();
    catalogue
}

fn go_on(_: CopyProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The sum that `sha256sum` has for one robot on a line.
#[test]
fn the_checksum_is_of_the_lines_of_json() {
    let catalogue = MemoryCatalogue::new();
    let empty = digest(&catalogue).unwrap();
    assert_eq!(empty.robots, 0);
    assert_eq!(
        empty.checksum.to_string(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    catalogue.restore(&[robot(1, "R2-D2")], None).unwrap();
    let one = digest(&catalogue).unwrap();
    assert_eq!(one.robots, 1);
    assert_eq!(
        one.checksum.to_string(),
        "de8c44c072d5987299e6dff270c859957221c452a6a08e425fa7548e7df9b914"
    );
    assert_eq!(one.checksum.as_bytes()[..2], [0xde, 0x8c]);
}

#[test]
fn any_difference_makes_another_checksum() {
    let original = digest(&source(3)).unwrap();
    let id = RobotId::new(1).unwrap();
    for changed in [
        Draft::new("RX-000000", "droid", 1978),
        Draft::new("RX-000000", "virtual", 1977),
        Draft::new("RX-000000 ", "droid", 1977),
    ] {
        let other = source(3);
        other.replace(id, changed).unwrap();
        assert_ne!(digest(&other).unwrap().checksum, original.checksum);
    }
    let other = source(3);
    other.delete(id).unwrap();
    other.restore(&[robot(2, "RX-000000")], None).unwrap();
    let changed = digest(&other).unwrap();
    assert_eq!(changed.robots, original.robots);
    assert_ne!(changed.checksum, original.checksum);
}

#[test]
fn a_copy_has_the_same_robots_with_the_same_ids() {
    let source = source(9000);
    let target = MemoryCatalogue::new();
    let copied = copy(&source, &target, go_on).unwrap();
    assert_eq!(copied.robots, 9000);
    assert_eq!(copied, digest(&source).unwrap());
    assert_eq!(target.list().unwrap(), source.list().unwrap());
}

#[test]
fn an_empty_catalogue_can_be_copied() {
    let target: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    let CatalogueDigest { robots, .. } = copy(&source(0), &*target, go_on).unwrap();
    assert_eq!(robots, 0);
    assert_eq!(target.last_id().unwrap(), None);
}

#[test]
fn ids_of_deleted_robots_do_not_come_back_in_the_copy() {
    let source = source(1);
    let newest = source
        .add(Draft::new("newest", "droid", 1977))
        .unwrap()
        .id();
    source.delete(newest).unwrap();
    let target = MemoryCatalogue::new();
    copy(&source, &target, go_on).unwrap();
    let next = target.add(Draft::new("next", "droid", 1977)).unwrap().id();
    assert!(next > newest, "{next}");
}

#[test]
fn ids_that_the_source_gives_meanwhile_do_not_come_back_either() {
    let source = source(1);
    let target = MemoryCatalogue::new();
    let mut newest = None;
    copy(&source, &target, |progress| {
        if progress.stage == CopyStage::Copying {
            let id = source
                .add(Draft::new("a guest", "droid", 1977))
                .unwrap()
                .id();
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
fn a_target_with_robots_is_left_as_it_is() {
    let target = MemoryCatalogue::new();
    let own = target.add(Draft::new("own", "droid", 1977)).unwrap();
    let outcome = copy(&source(3), &target, go_on);
    assert!(matches!(outcome, Err(CopyError::NotEmpty)), "{outcome:?}");
    assert_eq!(target.list().unwrap(), [own]);
    // So nothing is copied onto itself, whatever its names.
    let outcome = copy(&target, &target, go_on);
    assert!(matches!(outcome, Err(CopyError::NotEmpty)), "{outcome:?}");
}

#[test]
fn it_is_told_how_far_the_copy_has_got() {
    let mut told = Vec::new();
    copy(&source(5000), &MemoryCatalogue::new(), |progress| {
        told.push((progress.stage, progress.robots, progress.total));
        ControlFlow::Continue(())
    })
    .unwrap();
    let both = |stage, total| [(stage, 4000, total), (stage, 5000, total)];
    let expected = [
        both(CopyStage::Counting, None),
        both(CopyStage::Copying, Some(5000)),
        both(CopyStage::VerifyingSource, Some(5000)),
        both(CopyStage::VerifyingTarget, Some(5000)),
    ];
    assert_eq!(told, expected.concat());
}

#[test]
fn a_copy_that_is_broken_off_tells_how_many_robots_were_copied() {
    for (stage, expected) in [
        (CopyStage::Counting, 0),
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
            Err(CopyError::BrokenOff { copied }) => assert_eq!(copied, expected),
            other => panic!("{other:?}"),
        }
        assert_eq!(digest(&target).unwrap().robots, expected);
    }
}

#[test]
fn a_source_that_changes_behind_the_copy_is_noticed() {
    let source = source(2);
    let mut is_changed = false;
    let outcome = copy(&source, &MemoryCatalogue::new(), |progress| {
        if progress.stage == CopyStage::Copying && !is_changed {
            source.add(Draft::new("a late one", "droid", 1977)).unwrap();
            is_changed = true;
        }
        ControlFlow::Continue(())
    });
    match outcome {
        Err(
            error @ CopyError::Different {
                source_digest,
                target_digest,
            },
        ) => {
            assert_eq!((source_digest.robots, target_digest.robots), (3, 2));
            let words = error.to_string();
            assert!(
                words.contains("somebody has changed one of them meanwhile"),
                "{words}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_target_that_somebody_else_fills_is_told() {
    let (source, target) = (source(2), MemoryCatalogue::new());
    let outcome = copy(&source, &target, |progress| {
        if progress.stage == CopyStage::Counting {
            target.restore(&[robot(5, "RX-000001")], None).unwrap();
        }
        ControlFlow::Continue(())
    });
    match outcome {
        Err(CopyError::Target(Error::NotRestored { violation, .. })) => {
            assert_eq!(violation, Violation::NameTaken);
        }
        other => panic!("{other:?}"),
    }
}
