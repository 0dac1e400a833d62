//! Conditions for the values of fields, as queries and commands name them.

use std::sync::LazyLock;

use crate::model::{Field, Kind, Member, Value};

/// A way to compare a field, such as `year_from`.
///
/// ```
/// use robot_core::Condition;
///
/// let names: Vec<_> = Condition::all().iter().map(Condition::name).collect();
/// assert_eq!(names, ["name", "type", "year", "year_from", "year_to"]);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    field: Field,
    comparison: Comparison,
    name: String,
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

static ALL: LazyLock<Vec<Condition>> = LazyLock::new(|| {
    use Comparison::{From, Is, To};
    let fields = Field::SETTABLE.iter();
    let comparable = fields.filter(|field| field.member() != Member::Own);
    let conditions = comparable.flat_map(|field| {
        let comparisons: &[_] = match field.kind() {
            Kind::Integer { .. } => &[(Is, ""), (From, "_from"), (To, "_to")],
            _ => &[(Is, "")],
        };
        comparisons
            .iter()
            .map(move |(comparison, suffix)| Condition {
                field: *field,
                comparison: *comparison,
                name: format!("{field}{suffix}"),
            })
    });
    conditions.collect()
});

impl Condition {
    /// All conditions, in the order of their fields. Own fields have none yet.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The name, as a parameter of queries.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field.
    #[must_use]
    pub fn field(&self) -> Field {
        self.field
    }

    /// How the field is compared.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        self.comparison
    }

    /// Whether a filter may have several values, of which a robot has any.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        !self.field.choices().is_empty()
    }

    /// What it means, for people.
    #[must_use]
    pub fn description(&self) -> String {
        let field = self.field;
        match self.comparison {
            Comparison::Is if field == Field::NAME => {
                "Only the robot with exactly this name".into()
            }
            Comparison::Is if self.is_repeatable() => {
                let choices = field.limits();
                format!("Only robots of this {field}: {choices}; repeat it for several {field}s")
            }
            Comparison::Is => format!("Only robots of this {field}"),
            Comparison::From => format!("Only robots of this {field} or later"),
            Comparison::To => format!("Only robots of this {field} or earlier"),
        }
    }

    /// Parses a value; `None` if it is not as [`Field::requirement`] says.
    #[must_use]
    pub fn parse<'a>(&self, text: &'a str) -> Option<Value<'a>> {
        let choices = self.field.choices();
        let is_choice = choices.is_empty() || choices.contains(&text);
        self.field.parse_value(text).ok().filter(|_| is_choice)
    }
}
