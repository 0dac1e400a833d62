//! Rules that a robot can violate: their exact messages, and their order.

use std::{borrow::Cow, fmt};

use super::{definition::Definition, field::Field, format::Format, kind::Kind, value::Value};

/// One violated rule. Its message, by [`Display`](fmt::Display), is part of the contract.
///
/// ```
/// use robot_core::{Draft, ValidDraft, Violation};
///
/// assert_eq!(Violation::NAME_TAKEN.to_string(), "The robot name must be unique");
/// let rejection = ValidDraft::new(Draft::new("R2-D2", "droid", -1)).unwrap_err();
/// let negative = Violation::new("year", "The year cannot be less than zero");
/// assert!(rejection.violations.iter().eq([&negative]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    field: Cow<'static, str>,
    rule: Rule,
    message: Cow<'static, str>,
}

/// What a violated rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The definition has no such field, or its values are of another kind.
    WrongKind,
    /// Another robot has the value. Only a store checks this.
    Taken,
    /// The field is required, and has no value.
    Missing,
    /// The value is not permitted: by the definition, or by the program that embeds the library.
    Other,
}

impl Violation {
    /// Another robot has the id.
    pub const ID_TAKEN: Self = Self::fixed("id", Rule::Taken, "The robot id must be unique");
    /// The id is greater than [`RobotId::GREATEST_RESTORED`](crate::RobotId::GREATEST_RESTORED), so the robot
    /// cannot be restored.
    pub const ID_TOO_GREAT: Self = Self::fixed(
        "id",
        Rule::Other,
        "The robot id must be at most 9223090561878065151",
    );
    /// Another robot has the name.
    pub const NAME_TAKEN: Self = Self::fixed("name", Rule::Taken, "The robot name must be unique");

    const fn fixed(field: &'static str, rule: Rule, message: &'static str) -> Self {
        Self {
            field: Cow::Borrowed(field),
            rule,
            message: Cow::Borrowed(message),
        }
    }

    /// A field violates a rule. The message is for people.
    pub fn new(field: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            field: field.into(),
            rule: Rule::Other,
            message: message.into(),
        }
    }

    /// The definition has no field with this name, or its values are of another kind.
    pub(super) fn wrong_kind(field: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self {
            rule: Rule::WrongKind,
            ..Self::new(field, message)
        }
    }

    /// A required field has no value.
    pub(crate) fn missing(field: &Field) -> Self {
        Self {
            rule: Rule::Missing,
            ..Self::new(field.name().to_owned(), format!("{field} is required"))
        }
    }

    /// Another robot has the value of the field with this name.
    pub(crate) fn taken(field: &str) -> Self {
        if field == Field::NAME.name() {
            return Self::NAME_TAKEN;
        }
        Self {
            rule: Rule::Taken,
            ..Self::new(field.to_owned(), format!("The {field} must be unique"))
        }
    }

    /// The name of the field whose value violates the rule.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What the rule is about.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }
}

impl Field {
    /// The rules that a value violates, except for uniqueness.
    pub(super) fn check(&self, value: &Value<'_>) -> Vec<Violation> {
        let mut violations = Vec::new();
        let mut forbid = |is_violated: bool, rule: &str, limit: &dyn fmt::Display| {
            if is_violated {
                let message = format!("The {self} {rule} {limit}");
                violations.push(Violation::new(self.name().to_owned(), message));
            }
        };
        match (self.kind(), value) {
            _ if self.is_empty(value) => return vec![Violation::missing(self)],
            (Kind::Text { max_length, format }, Value::Text(text)) => {
                // Bytes bound characters from above, and counting them costs nothing.
                let is_long = text.len() > *max_length && text.chars().count() > *max_length;
                let length = format_args!("{max_length} characters long");
                forbid(is_long, "must be at most", &length);
                let has_nul = text.contains('\0');
                forbid(has_nul, "must not contain the NUL character", &"(U+0000)");
                match format {
                    Format::Any => {}
                    Format::Pattern(pattern) => {
                        let is_match = is_long || pattern.0.is_match(text);
                        forbid(!is_match, "must match the pattern", &pattern.as_str());
                    }
                    Format::Named(format) => {
                        forbid(!(format.is_valid)(text), "must be", &format.description());
                    }
                }
            }
            (Kind::Choice(choices), Value::Text(text)) if choices.contains(text) => {}
            (Kind::Choice(choices), Value::Text(_)) => {
                let choices = choices.join(", ");
                let message = format!("Value of field '{self}' must be part of list: {choices}");
                return vec![Violation::new(self.name().to_owned(), message)];
            }
            (Kind::Integer { minimum: 0, .. }, Value::Integer(..0)) if !self.is_own() => {
                forbid(true, "cannot be less than", &"zero");
            }
            (Kind::Integer { minimum, maximum }, Value::Integer(integer)) => {
                forbid(integer < minimum, "cannot be less than", minimum);
                forbid(integer > maximum, "cannot be greater than", maximum);
            }
            (kind @ Kind::Number { minimum, maximum }, value) if kind.has(value) => {
                let number = value.as_number();
                forbid(number < *minimum, "cannot be less than", minimum);
                forbid(number > *maximum, "cannot be greater than", maximum);
            }
            (kind, value) if kind.has(value) => {}
            (kind, _) => {
                let message = format!("The {self} must be {}", kind.requirement());
                return vec![Violation::wrong_kind(self.name().to_owned(), message)];
            }
        }
        violations
    }
}

/// All rules that a draft violates: at least one, each once, in the contract's order.
///
/// As text: one message per line.
///
/// ```
/// use robot_core::{Draft, ValidDraft};
///
/// let rejection = ValidDraft::new(Draft::default()).unwrap_err();
/// let violations = rejection.violations;
/// assert_eq!(violations.iter().next().map(|first| first.field()), Some("type"));
/// assert_eq!(violations.to_string(), "type is required\nname is required\nyear is required");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.messages().join("\n"))]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Creates the list, from at least one violation, in the contract's order.
    pub(super) fn new(violations: Vec<Violation>) -> Self {
        debug_assert!(!violations.is_empty());
        Self(violations)
    }

    /// Other robots have the values of these fields: at least one, in the order of [`Definition::unique`].
    ///
    /// ```
    /// use robot_core::{Field, Violation, Violations};
    ///
    /// let taken = Violations::taken(&[Field::NAME]);
    /// assert!(taken.iter().eq([&Violation::NAME_TAKEN]));
    /// ```
    #[must_use]
    pub fn taken(fields: &[Field]) -> Self {
        let violations = fields.iter().map(|field| Violation::taken(field.name()));
        Self::new(violations.collect())
    }

    /// The violated rules, in the contract's order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Violation> + '_ {
        self.0.iter()
    }

    /// The first one.
    pub(crate) fn first(&self) -> Violation {
        // There is at least one.
        self.0.first().cloned().unwrap_or(Violation::NAME_TAKEN)
    }

    /// The message of each rule.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }

    /// Whether a value of this field violates a rule.
    pub(crate) fn concern(&self, field: &Field) -> bool {
        self.iter().any(|one| one.field() == field.name())
    }

    /// These, and the fields of the definition whose values other robots have.
    #[must_use]
    pub(crate) fn with_taken(self, definition: &Definition, taken: &[Field]) -> Self {
        let mut rest = self.0;
        let mut all = Vec::new();
        for field in definition.in_order_of_messages() {
            all.extend(rest.extract_if(.., |one| one.field() == field.name()));
            if taken.iter().any(|taken| taken.is(field)) {
                all.push(Violation::taken(field.name()));
            }
        }
        all.append(&mut rest);
        Self(all)
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self(vec![violation])
    }
}
