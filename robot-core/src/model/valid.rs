//! Values that satisfy every rule except those that only a store can check.

use super::{
    definition::{Definition, DefinitionIdentity},
    draft::{Draft, Rejection},
    field::Field,
    own::OwnValues,
    value::Value,
};

/// A draft that satisfies every rule except those that only a store can check: that its unique values are
/// free. Stores accept nothing else.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft};
///
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// assert_eq!((draft.name(), draft.robot_type(), draft.year()), ("R2-D2", Some("droid"), Some(1977)));
/// let robot = draft.with_id(RobotId::new(7).ok_or("not positive")?);
/// assert_eq!(robot.id().get(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ValidDraft {
    pub(super) draft: Draft,
    /// The definition that has checked it; `None` for stored values.
    pub(super) checked_by: Option<DefinitionIdentity>,
}

impl PartialEq for ValidDraft {
    fn eq(&self, other: &Self) -> bool {
        self.draft == other.draft
    }
}

impl Eq for ValidDraft {}

impl From<ValidDraft> for Draft {
    fn from(valid: ValidDraft) -> Self {
        valid.draft
    }
}

/// New values for some members of a robot, which satisfy every rule except those that only a
/// store can check. Members that are `None` keep their value.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidChanges, ValidDraft};
///
/// let id = RobotId::new(7).ok_or("not positive")?;
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?.with_id(id);
/// let changes = ValidChanges::new(Draft { year: Some(1980), ..Draft::default() })?;
/// assert_eq!((changes.name(), changes.robot_type(), changes.year()), (None, None, Some(1980)));
/// let robot = changes.apply_to(&robot, robot.revision().next());
/// assert_eq!((robot.name(), robot.year()), ("R2-D2", Some(1980)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidChanges {
    pub(super) draft: Draft,
    /// The fields whose values are removed.
    pub(super) removed: Vec<Field>,
    /// Whether all other own values are removed.
    pub(super) replaces_own: bool,
    /// The definition that has checked them; `None` for stored values.
    pub(super) checked_by: Option<DefinitionIdentity>,
}

impl ValidDraft {
    /// A draft with a name, whose values were valid when they were stored. A type that a later version of
    /// this program has stored stays as it is.
    pub(crate) fn from_stored(draft: Draft) -> Self {
        Self {
            draft,
            checked_by: None,
        }
    }

    /// The stored values without those of fields that a definition does not have; `None` if there are none of them.
    pub(crate) fn without_leftovers(&self, definition: &Definition) -> Option<Self> {
        let names = self.draft.own.names();
        let leftovers = names.filter(|name| definition.field(name).is_none());
        let leftovers: Vec<_> = leftovers.map(str::to_owned).collect();
        let mut draft = self.draft.clone();
        for name in &leftovers {
            draft.own.remove(name);
        }
        (!leftovers.is_empty()).then(|| Self::from_stored(draft))
    }

    /// The draft, checked by a definition, unless this state of the definition has checked it.
    pub(crate) fn check_again(&self, definition: &Definition) -> Result<Option<Self>, Rejection> {
        if is_checked(self.checked_by, definition) {
            return Ok(None);
        }
        definition.validate(self.draft.clone()).map(Some)
    }

    /// Checks a draft against every rule of the built-in definition but uniqueness.
    /// [`Definition::validate`] checks it by another definition.
    ///
    /// # Errors
    /// All rules that it violates.
    ///
    /// ```
    /// use robot_core::{Draft, ValidDraft};
    ///
    /// let rejection = ValidDraft::new(Draft::new("Bender", "bending", -1)).unwrap_err();
    /// let fields: Vec<_> = rejection.violations.iter().map(|violation| violation.field()).collect();
    /// assert_eq!(fields, ["type", "year"]);
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        Definition::built_in().validate(draft)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        // No draft without a name is valid.
        self.draft.name.as_deref().unwrap_or_default()
    }

    /// The type.
    #[must_use]
    pub fn robot_type(&self) -> Option<&str> {
        self.draft.robot_type.as_deref()
    }

    /// The year.
    #[must_use]
    pub fn year(&self) -> Option<i64> {
        self.draft.year
    }

    pub(crate) fn own(&self) -> &OwnValues {
        &self.draft.own
    }

    pub(crate) fn size(&self) -> usize {
        self.draft.size()
    }

    /// The value of a field, except for the id and the revision. A value of another kind than the field's,
    /// which was stored before the field was defined, is none.
    pub(crate) fn value(&self, field: &Field) -> Option<Value<'_>> {
        let value = self.draft.value(field);
        value.filter(|value| field.kind().has(value))
    }
}

/// Whether this definition need not check values again.
fn is_checked(by: Option<DefinitionIdentity>, definition: &Definition) -> bool {
    by.is_none_or(|identity| identity == definition.identity())
}

impl ValidChanges {
    /// Checks the members that a draft has against every rule of the built-in definition but uniqueness. The
    /// members that are missing keep their value. [`Definition::validate_patch`] checks it by another
    /// definition.
    ///
    /// # Errors
    /// All rules that they violate.
    ///
    /// ```
    /// use robot_core::{Draft, ValidChanges};
    ///
    /// let draft = Draft { year: Some(-1), ..Draft::default() };
    /// let rejection = ValidChanges::new(draft).unwrap_err();
    /// assert_eq!(rejection.violations.to_string(), "The year cannot be less than zero");
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        Definition::built_in().validate_patch(draft, &[])
    }

    /// New values, and the removal of the values of these fields, which their definition may require.
    pub(crate) fn unchecked(draft: Draft, removed: Vec<Field>) -> Self {
        Self {
            draft,
            removed,
            replaces_own: false,
            checked_by: None,
        }
    }

    /// As [`ValidDraft::check_again`].
    pub(crate) fn check_again(&self, definition: &Definition) -> Result<Option<Self>, Rejection> {
        if is_checked(self.checked_by, definition) {
            return Ok(None);
        }
        let mut removed = self.removed.clone();
        if self.replaces_own {
            removed.extend(definition.own().cloned());
        }
        let checked = definition.validate_patch(self.draft.clone(), &removed)?;
        Ok(Some(Self {
            replaces_own: self.replaces_own,
            ..checked
        }))
    }

    /// Whether no member is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.draft == Draft::default() && self.removed.is_empty() && !self.replaces_own
    }

    /// Whether the value of a field is removed.
    #[must_use]
    pub fn removes(&self, field: &Field) -> bool {
        self.removed.iter().any(|removed| removed.is(field))
    }

    /// The new value of a field, if it is to change to another one.
    #[must_use]
    pub fn value(&self, field: &Field) -> Option<Value<'_>> {
        self.draft.value(field)
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

    /// Whether own values that the changes do not have are removed.
    pub(crate) fn replaces_own(&self) -> bool {
        self.replaces_own
    }

    /// How the own values change.
    pub(crate) fn own(&self, definition: &Definition) -> OwnChange<'_> {
        if self.replaces_own {
            return OwnChange::Set(self.draft.own.to_json(definition));
        }
        let removed = self.removed.iter().filter(|field| field.is_own());
        let removed: Vec<_> = removed.map(Field::name).collect();
        match self.draft.own.to_merge_patch(definition, &removed) {
            Some(patch) => OwnChange::Merge(patch, removed),
            None => OwnChange::None,
        }
    }

    /// The new values, and those of `current` for the members that do not change.
    pub(super) fn merge(self, current: &ValidDraft) -> ValidDraft {
        let (mut merged, new) = (current.draft.clone(), self.draft);
        merged.name = new.name.or(merged.name);
        merged.robot_type = new.robot_type.or(merged.robot_type);
        merged.year = new.year.or(merged.year);
        if self.replaces_own {
            merged.own = new.own;
        } else {
            merged.own.extend(new.own);
        }
        for field in self.removed {
            merged.clear(&field);
        }
        ValidDraft {
            draft: merged,
            checked_by: self.checked_by,
        }
    }
}

/// A change of the own values, which are a JSON object.
pub(crate) enum OwnChange<'a> {
    None,
    /// They are these.
    Set(Option<String>),
    /// This merge patch (RFC 7396) is applied, which removes the values with these names.
    Merge(String, Vec<&'a str>),
}

impl From<ValidDraft> for ValidChanges {
    /// All members, and the removal of values that the draft does not have.
    fn from(draft: ValidDraft) -> Self {
        let removed = [Field::TYPE, Field::YEAR].into_iter();
        let removed = removed.filter(|field| draft.value(field).is_none());
        Self {
            removed: removed.collect(),
            checked_by: draft.checked_by,
            draft: draft.into(),
            replaces_own: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NAME_LENGTH_LIMIT;
    use crate::model::{Rule, Violation};

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
            rejection
                .violations
                .with_taken(Definition::built_in(), &[Field::NAME])
                .to_string(),
            "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             The robot name must be unique\n\
             The year cannot be less than zero"
        );
    }

    #[test]
    fn own_values_are_set_kept_and_removed() {
        let json = r#"{"properties":{"maker":{"type":"string"},"rooms":{"type":"integer"}}}"#;
        let definition: Definition = json.parse().unwrap();
        let [maker, rooms] = ["maker", "rooms"].map(|name| definition.field(name).unwrap());
        let draft = |maker: Option<&str>| {
            let mut draft = Draft::new("R2-D2", "droid", 1977);
            draft.set("rooms", 3_i64);
            if let Some(maker) = maker {
                draft.set("maker", maker);
            }
            draft
        };
        let robot = definition.validate(draft(Some("ACME"))).unwrap();
        let patch = |value: Option<&str>, removed: &[Field]| {
            let mut draft = Draft::default();
            if let Some(value) = value {
                draft.set("maker", value);
            }
            definition.validate_patch(draft, removed).unwrap()
        };
        let replacement = |maker| definition.validate(draft(maker)).unwrap().into();
        for (changes, expected) in [
            (patch(Some("Other"), &[]), Some("Other")),
            (patch(Some(""), &[]), None),
            (patch(None, std::slice::from_ref(maker)), None),
            (patch(None, &[]), Some("ACME")),
            (replacement(Some("Other")), Some("Other")),
            (replacement(None), None),
        ] {
            let merged = changes.merge(&robot);
            let value = merged.value(maker).map(|value| value.to_string());
            assert_eq!(value.as_deref(), expected);
            assert_eq!(merged.value(rooms), Some(Value::Integer(3)));
        }
        assert!(patch(None, &[]).is_empty());
        assert!(!patch(None, std::slice::from_ref(maker)).is_empty());
    }

    #[test]
    fn numbers_are_finite_and_equal_ones_are_equal_values() {
        let json = r#"{"properties":{"weight":{"type":"number"},"rooms":{"type":"integer"}}}"#;
        let definition: Definition = json.parse().unwrap();
        for (name, number, expected) in [
            ("weight", 5.0, Some(Value::Integer(5))),
            ("weight", 5.5, Some(Value::Number(5.5))),
            ("rooms", 5.0, Some(Value::Integer(5))),
            ("rooms", 5.5, None),
            ("weight", f64::NAN, None),
            ("weight", f64::INFINITY, None),
            ("rooms", f64::NAN, None),
        ] {
            let mut draft = Draft::new("R2-D2", "droid", 1977);
            draft.set(name, Value::Number(number));
            let field = definition.field(name).unwrap();
            match definition.validate(draft) {
                Ok(valid) => assert_eq!(valid.value(field), expected),
                Err(rejection) => {
                    let rules = rejection.violations.iter().map(Violation::rule);
                    assert!(expected.is_none() && rules.eq([Rule::WrongKind]));
                }
            }
        }
    }
}
