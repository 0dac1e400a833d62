//! Drafts of robots, and their validation.
//!
//! Drafts come from a [`Source`], such as a request body; [`definition`](super::definition) has the
//! rules.

use std::borrow::Cow;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::{
    definition::{Field, Member},
    own::OwnValues,
    value::Value,
    violation::{Rule, Violation, Violations},
};

/// What a client submits, not validated yet.
///
/// A member that the client omitted is `None`. [`ValidDraft::new`](crate::ValidDraft::new)
/// validates it.
///
/// ```
/// use robot_core::Draft;
///
/// let whole = Draft::new("R2-D2", "droid", 1977);
/// let part = Draft { year: Some(1980), ..Draft::default() };
/// assert_eq!((whole.year, part.year, part.name), (Some(1977), Some(1980), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The type, as text; validation decides whether it is one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub robot_type: Option<String>,
    /// The year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    /// The values of other fields.
    #[serde(flatten)]
    pub own: OwnValues,
}

impl Draft {
    /// A draft with all three members.
    ///
    /// ```
    /// # use robot_core::Draft;
    /// let draft = Draft::new("R2-D2", "droid", 1977);
    /// assert_eq!(draft.year, Some(1977));
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, robot_type: impl Into<String>, year: i64) -> Self {
        Self {
            name: Some(name.into()),
            robot_type: Some(robot_type.into()),
            year: Some(year),
            own: OwnValues::default(),
        }
    }

    /// A draft with the values of fields, or a message for each value that is not of the field's kind.
    pub(crate) fn read(
        mut value: impl FnMut(Field) -> Result<Option<Value<'static>>, String>,
    ) -> Result<Self, Messages> {
        let (mut draft, mut messages) = (Self::default(), Messages::new());
        for field in Field::in_order_of_messages() {
            match value(field) {
                Ok(Some(value)) => draft.set(field, value),
                Ok(None) => {}
                Err(message) => messages.push(message.into()),
            }
        }
        if messages.is_empty() {
            Ok(draft)
        } else {
            Err(messages)
        }
    }

    /// Sets the value of a field. A value of another kind than the field's, and a field that clients
    /// cannot set, have no effect.
    ///
    /// ```
    /// use robot_core::{Draft, Field};
    ///
    /// let mut draft = Draft::default();
    /// draft.set(Field::YEAR, Field::YEAR.parse_value("1977")?);
    /// assert_eq!(draft.year, Some(1977));
    /// # Ok::<(), String>(())
    /// ```
    pub fn set(&mut self, field: Field, value: Value<'_>) {
        match (field.member(), value) {
            (Member::Name, Value::Text(text)) => self.name = Some(text.into_owned()),
            (Member::Type, Value::Text(text)) => self.robot_type = Some(text.into_owned()),
            (Member::Year, Value::Integer(integer)) => self.year = Some(integer),
            (Member::Own, value) => self.own.set(field, value),
            _ => {}
        }
    }

    /// The value of a field, if the client has set it.
    #[must_use]
    pub fn value(&self, field: Field) -> Option<Value<'_>> {
        match field.member() {
            Member::Name => self.name.as_deref().map(Value::from),
            Member::Type => self.robot_type.as_deref().map(Value::from),
            Member::Year => self.year.map(Value::from),
            Member::Own => self.own.get(field),
            Member::Id | Member::Revision => None,
        }
    }

    /// Checks the values against every rule but uniqueness. A required field without a value is
    /// missing if `needs` it.
    fn check(self, needs: impl Fn(Field) -> bool) -> Result<Self, Rejection> {
        let mut violations = Vec::new();
        for field in Field::in_order_of_messages() {
            let rules = match self.value(field) {
                Some(value) => field.check(&value),
                None if field.is_required() && needs(field) => vec![Rule::Missing],
                None => continue,
            };
            violations.extend(rules.into_iter().map(|rule| Violation::new(field, rule)));
        }
        if violations.is_empty() {
            return Ok(self);
        }
        let is_valid = violations.iter().all(|one| one.field() != Field::NAME);
        Err(Rejection {
            violations: Violations::new(violations),
            name: self.name.filter(|_| is_valid),
        })
    }
}

/// Messages for people about input that cannot be parsed.
pub(crate) type Messages = Vec<Cow<'static, str>>;

/// A draft that satisfies every rule except the one that only a store can check: that its name is
/// free. Stores accept nothing else.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft};
///
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// assert_eq!((draft.name(), draft.robot_type(), draft.year()), ("R2-D2", "droid", 1977));
/// let robot = draft.with_id(RobotId::new(7).ok_or("not positive")?);
/// assert_eq!(robot.id().get(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidDraft {
    name: String,
    /// Usual types need no allocation.
    robot_type: CompactString,
    year: i64,
    own: OwnValues,
}

impl From<ValidDraft> for Draft {
    fn from(draft: ValidDraft) -> Self {
        Self {
            own: draft.own,
            ..Self::new(draft.name, draft.robot_type, draft.year)
        }
    }
}

/// New values for some members of a robot, which satisfy every rule except the one that only a
/// store can check. Members that are `None` keep their value.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidChanges, ValidDraft};
///
/// let id = RobotId::new(7).ok_or("not positive")?;
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?.with_id(id);
/// let changes = ValidChanges::new(Draft { year: Some(1980), ..Draft::default() })?;
/// assert_eq!((changes.name(), changes.robot_type(), changes.year()), (None, None, Some(1980)));
/// let robot = changes.apply_to(&robot);
/// assert_eq!((robot.name(), robot.year()), ("R2-D2", 1980));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidChanges {
    draft: Draft,
    /// The own fields whose values are removed.
    removed: Vec<Field>,
}

/// A draft that violates rules: which ones, and its name if that is valid, so that
/// [`CatalogueExt::violations`](crate::CatalogueExt::violations) can look up whether it is free.
///
/// ```
/// use robot_core::{Draft, ValidDraft};
///
/// let rejection = ValidDraft::new(Draft::new("R2-D2", "droid", -1)).unwrap_err();
/// assert_eq!(rejection.violations().to_string(), "The year cannot be less than zero");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{violations}")]
pub struct Rejection {
    pub(crate) violations: Violations,
    pub(crate) name: Option<String>,
}

impl Rejection {
    /// The rules that the draft violates.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.violations
    }
}

impl ValidDraft {
    /// A draft of values that were valid when they were stored. A type that a later version of this
    /// program has stored stays as it is.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn from_stored(name: String, robot_type: String, year: i64, own: OwnValues) -> Self {
        Self {
            name,
            robot_type: robot_type.into(),
            year,
            own,
        }
    }

    pub(super) fn into_name(self) -> String {
        self.name
    }

    /// Checks a draft against every rule but uniqueness.
    ///
    /// # Errors
    /// All rules that it violates.
    ///
    /// ```
    /// use robot_core::{Draft, Field, Rule, ValidDraft, Violation};
    ///
    /// let rejection = ValidDraft::new(Draft::new("Bender", "bending", -1)).unwrap_err();
    /// let unknown = Violation::new(Field::TYPE, Rule::NotAChoice);
    /// let negative = Violation::new(Field::YEAR, Rule::TooSmall);
    /// assert!(rejection.violations().iter().eq([unknown, negative]));
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        let draft = draft.check(|_| true)?;
        // The check has rejected drafts without them.
        Ok(Self {
            name: draft.name.unwrap_or_default(),
            robot_type: draft.robot_type.unwrap_or_default().into(),
            year: draft.year.unwrap_or_default(),
            own: draft.own,
        })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type.
    #[must_use]
    pub fn robot_type(&self) -> &str {
        &self.robot_type
    }

    /// The year, 0 or more.
    #[must_use]
    pub fn year(&self) -> i64 {
        self.year
    }

    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn own(&self) -> &OwnValues {
        &self.own
    }

    /// The value of a field, except for the id and the revision.
    pub(super) fn value(&self, field: Field) -> Option<Value<'_>> {
        let text = |text| Value::Text(Cow::Borrowed(text));
        Some(match field.member() {
            Member::Name => text(self.name.as_str()),
            Member::Type => text(self.robot_type.as_str()),
            Member::Year => Value::Integer(self.year),
            Member::Own => return self.own.get(field),
            Member::Id | Member::Revision => return None,
        })
    }
}

impl ValidChanges {
    /// Checks the members that a draft has against every rule but uniqueness. The members that are
    /// missing keep their value.
    ///
    /// # Errors
    /// All rules that they violate.
    ///
    /// ```
    /// use robot_core::{Draft, ValidChanges};
    ///
    /// let draft = Draft { year: Some(-1), ..Draft::default() };
    /// let rejection = ValidChanges::new(draft).unwrap_err();
    /// assert_eq!(rejection.violations().to_string(), "The year cannot be less than zero");
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        Self::of_patch(draft, &[])
    }

    /// As [`new`](Self::new), of a patch that removes values, which required fields do not permit.
    pub(crate) fn of_patch(draft: Draft, removed: &[Field]) -> Result<Self, Rejection> {
        let draft = draft.check(|field| removed.contains(&field))?;
        let removed = Field::own().filter(|field| removed.contains(field));
        let removed = removed.collect();
        Ok(Self { draft, removed })
    }

    /// Whether no member is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.draft == Draft::default() && self.removed.is_empty()
    }

    /// The new name, if it is to change.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.draft.name.as_deref()
    }

    /// The new type, if it is to change.
    #[must_use]
    pub fn robot_type(&self) -> Option<&str> {
        self.draft.robot_type.as_deref()
    }

    /// The new year, if it is to change.
    #[must_use]
    pub fn year(&self) -> Option<i64> {
        self.draft.year
    }

    /// The JSON merge patch of the own values, if any is to change.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn own_patch(&self) -> Option<String> {
        self.draft.own.to_merge_patch(&self.removed)
    }

    /// The new values, and those of `current` for the members that do not change.
    pub(super) fn merge(self, current: &ValidDraft) -> ValidDraft {
        let Draft {
            name,
            robot_type,
            year,
            own: changed,
        } = self.draft;
        let mut own = current.own.clone();
        own.extend(changed);
        for field in self.removed {
            own.remove(field);
        }
        ValidDraft {
            name: name.unwrap_or_else(|| current.name.clone()),
            robot_type: robot_type.map_or_else(|| current.robot_type.clone(), Into::into),
            year: year.unwrap_or(current.year),
            own,
        }
    }
}

impl From<ValidDraft> for ValidChanges {
    /// All members, and the removal of values that the draft does not have.
    fn from(draft: ValidDraft) -> Self {
        let removed = Field::own().filter(|field| draft.own.get(*field).is_none());
        Self {
            removed: removed.collect(),
            draft: draft.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NAME_LENGTH_LIMIT;

    fn messages(draft: Draft) -> String {
        match ValidDraft::new(draft) {
            Ok(_) => String::new(),
            Err(rejection) => rejection.to_string(),
        }
    }

    #[test]
    fn all_violations_are_reported_in_contract_order() {
        let name = format!("{}\0", "a".repeat(NAME_LENGTH_LIMIT));
        assert_eq!(
            messages(Draft::new(name, "robot", -1)),
            "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             The name must be at most 255 characters long\n\
             The name must not contain the NUL character (U+0000)\n\
             The year cannot be less than zero"
        );
        assert_eq!(
            messages(Draft::default()),
            "type is required\nname is required\nyear is required"
        );
    }

    #[test]
    fn name_taken_is_reported_between_type_and_year() {
        let rejection = ValidDraft::new(Draft::new("R2-D2", "robot", -1)).unwrap_err();
        assert_eq!(
            rejection.violations.and(Violation::NAME_TAKEN).to_string(),
            "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             The robot name must be unique\n\
             The year cannot be less than zero"
        );
    }

    #[test]
    fn own_values_are_set_kept_and_removed() {
        let mut draft = Draft::new("R2-D2", "droid", 1977);
        draft.set(Field::MAKER, "ACME".into());
        let with_maker = ValidDraft::new(draft).unwrap();
        let without = ValidDraft::new(Draft::new("R2-D2", "droid", 1977)).unwrap();
        let change = |removed: &[Field], maker: Option<&str>| {
            let mut draft = Draft::default();
            if let Some(maker) = maker {
                draft.set(Field::MAKER, maker.into());
            }
            let draft = draft.check(|_| false).unwrap();
            let removed = removed.to_vec();
            ValidChanges { draft, removed }
        };
        let maker = |changes: ValidChanges, current: &ValidDraft| {
            let merged = changes.merge(current);
            merged.value(Field::MAKER).map(|value| value.to_string())
        };
        for current in [&with_maker, &without] {
            assert_eq!(
                maker(change(&[], Some("Other")), current).as_deref(),
                Some("Other")
            );
            assert_eq!(maker(change(&[Field::MAKER], None), current), None);
        }
        assert_eq!(
            maker(change(&[], None), &with_maker).as_deref(),
            Some("ACME")
        );
        assert!(change(&[], None).is_empty());
        assert!(!change(&[Field::MAKER], None).is_empty());
    }

    #[test]
    fn name_length_is_counted_in_characters() {
        let draft = |character: &str, length| Draft::new(character.repeat(length), "droid", 0);
        assert_eq!(messages(draft("é", NAME_LENGTH_LIMIT)), "");
        assert_eq!(
            messages(draft("🤖", NAME_LENGTH_LIMIT + 1)),
            "The name must be at most 255 characters long"
        );
    }
}
