//! Restorations: checked when they are created.

use robot_core::{Draft, Error, Restoration, Revision, Robot, RobotId, ValidDraft, Violation};

fn id(number: i64) -> RobotId {
    RobotId::new(number).unwrap()
}

fn robot(number: i64) -> Robot {
    let draft = Draft::new(number.to_string(), "droid", 1977);
    ValidDraft::new(draft).unwrap().with_id(id(number))
}

#[test]
fn robots_are_sorted_and_raise_the_last_id() {
    let robots = [3, 1, 2].map(robot);
    for (last_id, expected) in [(None, 3), (Some(id(2)), 3), (Some(id(9)), 9)] {
        let restoration = Restoration::new(robots.clone(), last_id).unwrap();
        assert_eq!(restoration.robots(), [1, 2, 3].map(robot));
        assert_eq!(restoration.last_id(), Some(id(expected)));
        assert!(!restoration.is_empty());
    }
    let restoration = Restoration::new([], None).unwrap();
    assert!(restoration.is_empty());
    assert_eq!(restoration.last_id(), None);
}

#[test]
fn revisions_above_the_maximum_are_rejected() {
    let greatest = Revision::GREATEST_RESTORED;
    let restored = |revision| Restoration::new([robot(1).with_revision(revision)], None);
    assert!(restored(greatest).is_ok());
    match restored(greatest.next()) {
        Err(Error::NotRestored { id, violation }) => {
            assert_eq!((id.get(), violation), (1, Violation::REVISION_TOO_GREAT));
        }
        other => panic!("{other:?}"),
    }
}
