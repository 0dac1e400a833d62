//! Conditions for the values of fields, as queries and commands name them.

use compact_str::{CompactString, format_compact};

use crate::model::{Definition, Field, Kind, Member, ParseIdError, RobotId, Value};

/// A way to compare a field, such as `year_from`.
///
/// ```
/// use robot_core::Definition;
///
/// let conditions = Definition::built_in().conditions();
/// let names: Vec<_> = conditions.map(|condition| condition.name().to_owned()).collect();
/// assert_eq!(names[3..8], ["type", "type_not", "year", "year_not", "year_from"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    name: CompactString,
    /// The field.
    pub(crate) field: Field,
    /// How the field is compared.
    pub(crate) comparison: Comparison,
}

/// How the value of a robot is compared with the value of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It is equal.
    Is,
    /// It is not equal, or missing.
    Not,
    /// It contains the text, without case and diacritics.
    Contains,
    /// It is equal or greater.
    From,
    /// It is equal or less.
    To,
}

impl Definition {
    /// All conditions for fields, in the order of the fields: for those that clients set, and those of
    /// [`Field::AUDIT`].
    pub fn conditions(&self) -> impl Iterator<Item = Condition> + '_ {
        use Comparison::{Contains, From, Is, Not, To};
        let audit = self.readable().filter(|field| field.is_audit());
        self.settable().iter().chain(audit).flat_map(|field| {
            let kind = field.kind();
            let has = |comparison: &Comparison| match comparison {
                // No client knows the millisecond of a change.
                Is | Not => *kind != Kind::Timestamp,
                Contains => matches!(kind, Kind::Text { .. }) && !kind.is_time(),
                From | To => kind.is_ordered(),
            };
            let all = [Is, Not, Contains, From, To].into_iter().filter(has);
            all.map(move |comparison| Condition {
                name: format_compact!("{field}{}", comparison.end()),
                field: field.clone(),
                comparison,
            })
        })
    }
}

/// The maximum length of a text that values contain, in characters. Longer, and a database server compares for longer.
pub(crate) const PART_LIMIT: usize = 100;

impl Comparison {
    /// What follows the name of the field.
    pub(crate) const fn end(self) -> &'static str {
        match self {
            Self::Is => "",
            Self::Not => "_not",
            Self::Contains => "_contains",
            Self::From => "_from",
            Self::To => "_to",
        }
    }
}

impl Condition {
    /// A robot has one of several ids.
    pub const ID: Self = Self {
        name: CompactString::const_new("id"),
        field: Field::ID,
        comparison: Comparison::Is,
    };

    /// The name, as a parameter of queries.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// How the field is compared.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    fn is_of_ids(&self) -> bool {
        self.field.member() == Member::Id
    }

    /// Whether a filter may have several values, of which a robot has any. With [`Comparison::Not`], it has none of them,
    /// and with [`Comparison::Contains`], it has all.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        let field = &self.field;
        let is_of_values = field.is_own() || !field.choices().is_empty() || self.is_of_ids();
        match self.comparison {
            Comparison::Is => is_of_values,
            Comparison::Not | Comparison::Contains => true,
            Comparison::From | Comparison::To => false,
        }
    }

    /// The maximum number of values that a query may have: one, unless it is repeatable. More, and a robot is
    /// compared for longer.
    pub(crate) fn value_limit(&self) -> usize {
        match self.is_repeatable() {
            true if self.is_of_ids() => 1000,
            true if self.comparison == Comparison::Contains => 16,
            true => 100,
            false => 1,
        }
    }

    /// What it means, for people.
    #[must_use]
    pub fn description(&self) -> String {
        let field = &self.field;
        let kind = field.kind();
        let end = if field.member() == Member::Year || kind.is_time() || *kind == Kind::Timestamp {
            ["later", "earlier"]
        } else {
            ["more", "less"]
        };
        match self.comparison {
            Comparison::Is if field.member() == Member::Name && field.is_unique() => {
                "Only the robot with exactly this name".into()
            }
            Comparison::Is if self.is_of_ids() => "Only the robots with these ids".into(),
            Comparison::Is if !field.choices().is_empty() => {
                let choices = field.limits();
                format!("Only robots of this {field}: {choices}; repeat it for several {field}s")
            }
            Comparison::Is if self.is_repeatable() => {
                format!(
                    "Only robots of this {field}; repeat it for several, leave it empty for none"
                )
            }
            Comparison::Is => format!("Only robots of this {field}"),
            Comparison::Not => format!(
                "Only robots not of this {field}; repeat it for several, leave it empty for any"
            ),
            Comparison::Contains => format!(
                "Only robots whose {field} contains this text, whatever its case and diacritics"
            ),
            Comparison::From => format!("Only robots of this {field} or {}", end[0]),
            Comparison::To => format!("Only robots of this {field} or {}", end[1]),
        }
    }

    /// Parses a value: no value, if the text is empty and robots may have none. Those that were stored before
    /// an own field was required may have none, too.
    ///
    /// # Errors
    /// A message for people, if it is not as [`Field::requirement`] says.
    pub fn parse<'t>(&self, text: &'t str) -> Result<Option<Value<'t>>, String> {
        let field = &self.field;
        if self.comparison == Comparison::Contains {
            let is_part = (1..=PART_LIMIT).contains(&text.chars().count());
            let message = || {
                format!(
                    "{} must be a text of 1 to {PART_LIMIT} characters",
                    self.name
                )
            };
            return is_part.then(|| Some(text.into())).ok_or_else(message);
        }
        let may_be_missing = field.is_own() || !field.is_required();
        let is_compared = matches!(self.comparison, Comparison::Is | Comparison::Not);
        let permits_none = is_compared && may_be_missing && field.member() != Member::Name;
        if text.is_empty() && permits_none {
            return Ok(None);
        }
        if self.is_of_ids() && text.parse::<RobotId>() == Err(ParseIdError::NeverAssigned) {
            // Nor does any robot have the id 0.
            return Ok(Some(Value::Integer(0)));
        }
        // A sign belongs to no value that cannot be negative.
        let has_sign = matches!(field.kind(), Kind::Integer { minimum: 0.., .. })
            && text.starts_with(['+', '-']);
        let value = field.parse_value(text).ok();
        let value = value.filter(|value| !has_sign && field.kind().is_valid_time(value));
        let message = || format!("{} must be {}", self.name(), field.requirement());
        value.map(Some).ok_or_else(message)
    }
}
