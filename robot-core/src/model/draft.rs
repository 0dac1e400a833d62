//! Drafts of robots, which are not validated yet, and their check by the rules of a [`Definition`].

use compact_str::CompactString;
use serde::Deserialize;

use super::{
    definition::Definition,
    field::{Field, Member},
    kind::Kind,
    own::OwnValues,
    text::Message,
    value::Value,
    violation::{Violation, Violations},
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// The name.
    pub name: Option<CompactString>,
    /// The type, as text; validation decides whether it is one.
    #[serde(rename = "type")]
    pub robot_type: Option<CompactString>,
    /// The year.
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
    pub fn new(
        name: impl Into<CompactString>,
        robot_type: impl Into<CompactString>,
        year: i64,
    ) -> Self {
        Self {
            name: Some(name.into()),
            robot_type: Some(robot_type.into()),
            year: Some(year),
            own: OwnValues::default(),
        }
    }

    /// A draft with the values of fields, or a message for each value that is not of the field's kind.
    pub(crate) fn read(
        definition: &Definition,
        mut value: impl FnMut(&Field) -> Result<Option<Value<'static>>, String>,
    ) -> Result<Self, Messages> {
        let (mut draft, mut messages) = (Self::default(), Messages::new());
        for field in definition.in_order_of_messages() {
            match value(field) {
                Ok(Some(value)) => draft.set(field, value),
                Ok(None) => {}
                Err(message) => messages.push(Message::about(field.name().to_owned(), message)),
            }
        }
        if messages.is_empty() {
            Ok(draft)
        } else {
            Err(messages)
        }
    }

    /// Sets the value of the field with this name. A value of another kind than that of a built-in field,
    /// and a field that clients cannot set, have no effect. The values of other fields are checked with the
    /// draft.
    ///
    /// ```
    /// use robot_core::{Draft, Field};
    ///
    /// let mut draft = Draft::default();
    /// draft.set(Field::YEAR, Field::YEAR.parse_value("1977")?);
    /// draft.set("maker", "ACME");
    /// assert_eq!(draft.year, Some(1977));
    /// # Ok::<(), String>(())
    /// ```
    pub fn set<'v>(&mut self, field: impl AsRef<str>, value: impl Into<Value<'v>>) {
        match (field.as_ref(), value.into()) {
            ("name", Value::Text(text)) => self.name = Some(text.into()),
            ("type", Value::Text(text)) => self.robot_type = Some(text.into()),
            ("year", Value::Integer(integer)) => self.year = Some(integer),
            ("id" | "name" | "type" | "year" | "revision", _) => {}
            (name, value) => self.own.set(name, value),
        }
    }

    /// Removes the value of a field.
    pub(super) fn clear(&mut self, field: &Field) {
        match field.member() {
            Member::Name => self.name = None,
            Member::Type => self.robot_type = None,
            Member::Year => self.year = None,
            Member::Own => self.own.remove(field.name()),
            Member::Id
            | Member::Revision
            | Member::CreatedAt
            | Member::UpdatedAt
            | Member::UpdatedBy => {}
        }
    }

    /// The number of bytes of the texts and the own values, about.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.name, &self.robot_type];
        let texts: usize = texts.into_iter().flatten().map(CompactString::len).sum();
        texts + self.own.size()
    }

    /// The value of a field, if the client has set it.
    #[must_use]
    pub fn value(&self, field: &Field) -> Option<Value<'_>> {
        match field.member() {
            Member::Name => self.name.as_deref().map(Value::from),
            Member::Type => self.robot_type.as_deref().map(Value::from),
            Member::Year => self.year.map(Value::from),
            Member::Own => self.own.get(field.name()),
            Member::Id
            | Member::Revision
            | Member::CreatedAt
            | Member::UpdatedAt
            | Member::UpdatedBy => None,
        }
    }

    /// Checks the values against every rule but uniqueness. A required field without a value is
    /// missing if `needs` it. Returns the fields whose empty texts are no value.
    pub(super) fn check(
        mut self,
        definition: &Definition,
        needs: impl Fn(&Field) -> bool,
    ) -> Result<(Self, Vec<Field>), Rejection> {
        let (mut violations, mut cleared) = (Vec::new(), Vec::new());
        for field in definition.in_order_of_messages() {
            // Equal numbers are equal values, also beyond 53 bits.
            let number = match (self.value(field), field.kind()) {
                (Some(Value::Number(number)), _) => Value::number(number),
                (Some(integer), Kind::Number { .. }) if field.kind().has(&integer) => {
                    Value::number(integer.as_number())
                }
                _ => None,
            };
            if let Some(number) = number {
                self.own.set(field.name(), number);
            }
            violations.extend(match self.value(field) {
                Some(value) if !field.is_required() && field.is_empty(&value) => {
                    self.clear(field);
                    cleared.push(field.clone());
                    continue;
                }
                Some(value) => field.check(&value),
                None if field.is_required() && needs(field) => vec![Violation::missing(field)],
                None => continue,
            });
        }
        let left_out = definition
            .left_out()
            .filter(|field| self.value(field).is_some());
        let own = self.own.names();
        let unknown = own.filter(|name| definition.field(name).is_none());
        let names = left_out.map(Field::name).chain(unknown);
        violations.extend(names.map(|name| {
            let message = format!("{name} is not a field of this catalogue");
            Violation::wrong_kind(name.to_owned(), message)
        }));
        if violations.is_empty() {
            return Ok((self, cleared));
        }
        Err(Rejection {
            violations: Violations::new(violations),
            draft: Box::new(self),
            removed: Vec::new(),
        })
    }
}

/// All messages about an input.
pub(crate) type Messages = Vec<Message>;

/// A draft that violates rules: which ones, and its values, so that
/// [`CatalogueExt::violations`](crate::CatalogueExt::violations) can look up whether other robots have them.
///
/// ```
/// use robot_core::{Draft, ValidDraft};
///
/// let rejection = ValidDraft::new(Draft::new("R2-D2", "droid", -1)).unwrap_err();
/// assert_eq!(rejection.violations.to_string(), "The year cannot be less than zero");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{violations}")]
pub struct Rejection {
    /// The rules that the draft violates.
    pub violations: Violations,
    pub(super) draft: Box<Draft>,
    /// The fields whose values would be removed.
    pub(super) removed: Vec<Field>,
}

impl Rejection {
    #[cfg(feature = "transfer")]
    pub(crate) fn size(&self) -> usize {
        self.draft.size()
    }

    /// The value of a field, if it violates no rule.
    pub(crate) fn value(&self, field: &Field) -> Option<Value<'_>> {
        let value = self.draft.value(field);
        value.filter(|_| !self.violations.concern(field))
    }
}
