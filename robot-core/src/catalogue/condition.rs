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
/// assert_eq!(names[..5], ["name", "type", "year", "year_from", "year_to"]);
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
    /// It is equal or greater.
    From,
    /// It is equal or less.
    To,
}

impl Definition {
    /// All conditions for fields, in the order of the fields: for those that clients set, and those of
    /// [`Field::AUDIT`].
    pub fn conditions(&self) -> impl Iterator<Item = Condition> + '_ {
        use Comparison::{From, Is, To};
        let audit = self.readable().filter(|field| field.is_audit());
        self.settable().iter().chain(audit).flat_map(|field| {
            let limits = [(From, "_from"), (To, "_to")].into_iter();
            let limits = limits.filter(|_| field.kind().is_ordered());
            let is = [(Is, "")].into_iter();
            // No client knows the millisecond of a change.
            let is = is.filter(|_| *field.kind() != Kind::Timestamp);
            let all = is.chain(limits);
            all.map(move |(comparison, end)| Condition {
                name: format_compact!("{field}{end}"),
                field: field.clone(),
                comparison,
            })
        })
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

    /// Whether a filter may have several values, of which a robot has any.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        let field = &self.field;
        let is_of_values = field.is_own() || !field.choices().is_empty() || self.is_of_ids();
        self.comparison == Comparison::Is && is_of_values
    }

    /// The maximum number of values that a query may have: one, unless it is repeatable. More, and a robot is
    /// compared for longer.
    pub(crate) fn value_limit(&self) -> usize {
        match self.is_repeatable() {
            true if self.is_of_ids() => 1000,
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
        let may_be_missing = field.is_own() || !field.is_required();
        let permits_none =
            self.comparison == Comparison::Is && may_be_missing && field.member() != Member::Name;
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
