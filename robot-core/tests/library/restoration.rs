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
