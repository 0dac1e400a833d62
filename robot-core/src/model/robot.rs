//! Robots as a store returns them.

use compact_str::CompactString;

use super::{
    audit::Audit,
    draft::Draft,
    field::{Field, Member},
    id::RobotId,
    revision::Revision,
    valid::{ValidChanges, ValidDraft},
    value::Value,
};

/// A stored robot. It satisfied every rule when it was stored; a later definition may have others.
///
/// Robots are equal if their ids, revisions and values are. It is made from a [`ValidDraft`](crate::ValidDraft) and an id, or by a store from what it has kept.
/// In JSON it is an object with all fields.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// assert_eq!((robot.id().get(), robot.name()), (7, "R2-D2"));
/// assert_eq!((robot.robot_type(), robot.year()), (Some("droid"), Some(1977)));
/// assert_eq!(
///     serde_json::to_string(&robot)?,
///     r#"{"id":"7","name":"R2-D2","type":"droid","year":1977,"revision":1}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Robot {
    id: RobotId,
    revision: Revision,
    values: ValidDraft,
    audit: Option<Box<Audit>>,
}

impl Robot {
    /// The id that the store assigned.
    #[must_use]
    pub fn id(&self) -> RobotId {
        self.id
    }

    /// The name: 1 to 255 characters, none of them NUL. By the built-in definition, no other robot has it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.values.name()
    }

    /// The type. Another definition may have stored one that is no choice now.
    #[must_use]
    pub fn robot_type(&self) -> Option<&str> {
        self.values.robot_type()
    }

    /// The year.
    #[must_use]
    pub fn year(&self) -> Option<i64> {
        self.values.year()
    }

    /// The revision: the number of this state of the robot.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// A robot as a store has kept it. Its values are not checked: they may violate a rule of a later definition.
    ///
    /// ```
    /// # use robot_core::{Draft, Revision, Robot, RobotId};
    /// let id = RobotId::new(7).ok_or("not positive")?;
    /// let robot = Robot::from_stored(id, Revision::FIRST, Draft::new("R2-D2", "toaster", 1977));
    /// assert_eq!(robot.robot_type(), Some("toaster"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_stored(id: RobotId, revision: Revision, values: Draft) -> Self {
        Self {
            id,
            revision,
            values: ValidDraft::from_stored(values),
            audit: None,
        }
    }

    /// When it was added and last changed, and by whom: of a robot in a page with such fields, or in an event.
    #[must_use]
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_deref()
    }

    /// The robot with its times and the author of its last change: for stores.
    #[must_use]
    pub fn with_audit(self, audit: Audit) -> Self {
        let audit = Some(Box::new(audit));
        Self { audit, ..self }
    }

    /// The robot with another revision.
    ///
    /// ```
    /// # use robot_core::{Draft, Revision, RobotId, ValidDraft};
    /// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
    ///     .with_id(RobotId::new(7).ok_or("not positive")?);
    /// assert_eq!(robot.revision(), Revision::FIRST);
    /// assert_eq!(robot.with_revision("3".parse()?).revision().get(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// The id and the name of a robot.
    #[inline]
    pub(crate) fn named(id: RobotId, name: impl Into<CompactString>) -> Self {
        let name = Some(name.into());
        let draft = Draft {
            name,
            ..Draft::default()
        };
        Self::from_stored(id, Revision::FIRST, draft)
    }

    /// The number of bytes of the texts and the own values, about.
    pub(crate) fn size(&self) -> usize {
        self.values.size()
    }

    pub(crate) fn values(&self) -> &ValidDraft {
        &self.values
    }

    /// The value of a field; `None` if the robot has none.
    #[must_use]
    pub fn value_of(&self, field: &Field) -> Option<Value<'_>> {
        match field.member() {
            Member::Id => Some(Value::Id(self.id)),
            Member::Revision => Some(Value::Integer(self.revision.get())),
            Member::Name | Member::Type | Member::Year | Member::Own => self.values.value(field),
            Member::CreatedAt => self.audit()?.created_at.map(Value::Timestamp),
            Member::UpdatedAt => self.audit()?.updated_at.map(Value::Timestamp),
            Member::UpdatedBy => self.audit()?.updated_by.as_deref().map(Value::from),
        }
    }

    /// The value of the field with this name; `None` if the robot has none.
    ///
    /// ```
    /// # use robot_core::{Draft, RobotId, ValidDraft, Value};
    /// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
    ///     .with_id(RobotId::new(7).ok_or("not positive")?);
    /// assert_eq!(robot.value("year"), Some(Value::Integer(1977)));
    /// assert_eq!(robot.value("maker"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value<'_>> {
        let mut built_in = Field::ALL.iter();
        match built_in.find(|field| field.name() == name) {
            Some(field) => self.value_of(field),
            None => self.values.own().get(name),
        }
    }
}

impl PartialEq for Robot {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.revision, &self.values) == (other.id, other.revision, &other.values)
    }
}

impl Eq for Robot {}

impl From<Robot> for Draft {
    /// The draft with the values of this robot: a start for changing some of them.
    fn from(robot: Robot) -> Self {
        robot.values.into()
    }
}

impl ValidDraft {
    /// The new robot with this id and the values of this draft.
    #[must_use]
    pub fn with_id(self, id: RobotId) -> Robot {
        Robot {
            id,
            revision: Revision::FIRST,
            values: self,
            audit: None,
        }
    }
}

impl ValidChanges {
    /// The robot after the changes, with the revision that a store has given to it.
    #[must_use]
    pub fn apply_to(self, robot: &Robot, revision: Revision) -> Robot {
        let changed = self.merge(&robot.values).with_id(robot.id);
        changed.with_revision(revision)
    }
}
