//! Rules that a robot can violate: their exact messages, and their order.

use std::{borrow::Cow, fmt};

use super::{
    definition::Definition,
    field::Field,
    id::RobotId,
    kind::{Format, Kind},
};

/// One violated rule. Its message, by [`Display`](fmt::Display), is part of the contract.
///
/// ```
/// use robot_core::{Field, Rule, Violation};
///
/// assert_eq!(Violation::NAME_TAKEN.to_string(), "The robot name must be unique");
/// let negative = Violation::new(Field::YEAR, Rule::TooSmall);
/// assert_eq!(negative.to_string(), "The year cannot be less than zero");
/// let rented = Violation::custom("name", "The name is that of a robot which is rented out");
/// assert_eq!(rented.field(), "name");
/// ```
#[derive(Debug, Clone)]
pub struct Violation {
    subject: Subject,
    rule: Rule,
}

impl PartialEq for Violation {
    fn eq(&self, other: &Self) -> bool {
        (self.field(), &self.rule) == (other.field(), &other.rule)
    }
}

impl Eq for Violation {}

/// The field that a violation is about.
#[derive(Debug, Clone)]
enum Subject {
    Field(Field),
    /// A field of which only the name is known.
    Named(Cow<'static, str>),
}

/// A rule about the value of a field. The order is that of messages about a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A required value is missing, or empty.
    Missing,
    /// The value is of another kind than the field's.
    WrongKind,
    /// The text is not one of the choices.
    NotAChoice,
    /// The text has too many characters.
    TooLong,
    /// The text contains U+0000.
    ContainsNul,
    /// The pattern of the field does not match the text.
    NoMatch,
    /// The text is not a date.
    NotADate,
    /// The text is not a URI.
    NotAUri,
    /// The number is less than the minimum.
    TooSmall,
    /// The number is greater than the maximum. For an id and a revision, only a store checks this,
    /// when it restores a robot.
    TooGreat,
    /// Another robot has the value. Only a store checks this.
    Taken,
    /// A rule of the program that embeds the library: its message.
    Custom(Cow<'static, str>),
}

impl Violation {
    /// Another robot has the id.
    pub const ID_TAKEN: Self = Self::new(Field::ID, Rule::Taken);
    /// The id is greater than [`RobotId::GREATEST_RESTORED`], so the robot cannot be restored.
    pub const ID_TOO_GREAT: Self = Self::new(Field::ID, Rule::TooGreat);
    /// The revision is greater than [`Revision::GREATEST_RESTORED`](crate::Revision), so the robot
    /// cannot be restored.
    pub const REVISION_TOO_GREAT: Self = Self::new(Field::REVISION, Rule::TooGreat);
    /// Another robot has the name.
    pub const NAME_TAKEN: Self = Self::new(Field::NAME, Rule::Taken);

    /// A field violates a rule.
    #[must_use]
    pub const fn new(field: Field, rule: Rule) -> Self {
        let subject = Subject::Field(field);
        Self { subject, rule }
    }

    /// A field violates a rule that its definition does not have. The message is for people.
    pub fn custom(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            subject: Subject::Named(field.into()),
            rule: Rule::Custom(message.into()),
        }
    }

    /// Another robot has the value of the own field with this name.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn taken(own: &str) -> Self {
        Self {
            subject: Subject::Named(own.to_owned().into()),
            rule: Rule::Taken,
        }
    }

    /// The name of the field whose value violates the rule.
    #[must_use]
    pub fn field(&self) -> &str {
        match &self.subject {
            Subject::Field(field) => field.name(),
            Subject::Named(name) => name,
        }
    }

    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field();
        let (kind, is_own) = match self.subject {
            Subject::Field(field) => (Some(field.kind()), field.is_own()),
            Subject::Named(_) => (None, true),
        };
        let message = match (&self.rule, kind) {
            (Rule::Custom(message), _) => return formatter.write_str(message),
            (Rule::Missing, _) => format!("{name} is required"),
            (Rule::Taken, _) if is_own => format!("The {name} must be unique"),
            (Rule::Taken, _) => format!("The robot {name} must be unique"),
            (Rule::ContainsNul, _) => {
                format!("The {name} must not contain the NUL character (U+0000)")
            }
            (_, None) => format!("The {name} is not valid"),
            (Rule::NotAChoice, Some(kind)) => {
                let choices = kind.choices().join(", ");
                format!("Value of field '{name}' must be part of list: {choices}")
            }
            (Rule::TooLong, Some(Kind::Text { max_length, .. })) => {
                format!("The {name} must be at most {max_length} characters long")
            }
            (
                Rule::NoMatch,
                Some(Kind::Text {
                    format: Format::Pattern(pattern),
                    ..
                }),
            ) => {
                format!("The {name} must match the pattern {}", pattern.as_str())
            }
            (Rule::NotAUri, _) => {
                format!("The {name} must be a URI, such as https://example.org/")
            }
            (Rule::TooSmall, Some(Kind::Integer { minimum: 0, .. })) if !is_own => {
                format!("The {name} cannot be less than zero")
            }
            (Rule::TooSmall, Some(Kind::Integer { minimum, .. })) => {
                format!("The {name} cannot be less than {minimum}")
            }
            (Rule::TooSmall, Some(Kind::Number { minimum, .. })) => {
                format!("The {name} cannot be less than {minimum}")
            }
            (Rule::TooGreat, Some(Kind::Id)) => {
                let maximum = RobotId::GREATEST_RESTORED;
                format!("The robot {name} must be at most {maximum}")
            }
            (Rule::TooGreat, Some(Kind::Integer { maximum, .. })) if name == "revision" => {
                format!("The robot {name} must be at most {maximum}")
            }
            (Rule::TooGreat, Some(Kind::Integer { maximum, .. })) => {
                format!("The {name} cannot be greater than {maximum}")
            }
            (Rule::TooGreat, Some(Kind::Number { maximum, .. })) => {
                format!("The {name} cannot be greater than {maximum}")
            }
            (_, Some(kind)) => format!("The {name} must be {}", kind.requirement()),
        };
        formatter.write_str(&message)
    }
}

/// All rules that a draft violates: at least one, each once, in the contract's order.
///
/// As text: one message per line.
///
/// ```
/// use robot_core::{Draft, Field, Rule, ValidDraft, Violation};
///
/// let rejection = ValidDraft::new(Draft::default()).unwrap_err();
/// let violations = rejection.violations();
/// let first = Violation::new(Field::TYPE, Rule::Missing);
/// assert_eq!(violations.iter().next(), Some(&first));
/// assert_eq!(violations.to_string(), "type is required\nname is required\nyear is required");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Creates the list, from at least one violation, in the contract's order.
    pub(super) fn new(violations: Vec<Violation>) -> Self {
        debug_assert!(!violations.is_empty());
        Self(violations)
    }

    /// Other robots have the values of these fields: at least one, in the contract's order.
    pub(crate) fn taken(fields: &[Field]) -> Self {
        let violations = fields
            .iter()
            .map(|field| Violation::new(*field, Rule::Taken));
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
    pub(crate) fn concern(&self, field: Field) -> bool {
        self.iter().any(|one| one.field() == field.name())
    }

    /// These, and the fields of the definition whose values other robots have.
    #[must_use]
    pub(crate) fn with_taken(self, definition: &Definition, taken: &[Field]) -> Self {
        let mut rest = self.0;
        let mut all = Vec::new();
        for field in definition.in_order_of_messages() {
            all.extend(rest.extract_if(.., |one| one.field() == field.name()));
            if taken.contains(field) {
                all.push(Violation::new(*field, Rule::Taken));
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

impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.messages().join("\n"))
    }
}

impl std::error::Error for Violations {}

#[cfg(test)]
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod tests {
    use super::*;

    #[test]
    fn violation_is_equal_if_only_the_name_of_its_field_is_known() {
        let json = r#"{"properties":{"serial":{"type":"string","unique":true}}}"#;
        let definition: Definition = json.parse().unwrap();
        let serial = definition.field("serial").unwrap();
        let known = Violation::new(serial, Rule::Taken);
        assert_eq!(Violation::taken("serial"), known);
        assert_eq!(Violation::taken("serial").to_string(), known.to_string());
        assert_ne!(Violation::taken("maker"), known);
    }
}
