//! The fields of a robot on the command line: arguments of `add`, options of `update`, and the fields
//! that are printed.
//!
//! The definition of a catalogue is known when it is open, so the values are texts until then. The rules
//! about them are in `robot-core`, so that all interfaces report violations with the same messages.

use std::fmt::Display;

use clap::Args;
use robot_core::{Definition, Draft, Field, ParseIdError, RobotId, http::similar};

use crate::error::CliError;

/// Values of a robot.
#[derive(Debug, Args)]
pub(crate) struct Values {
    #[arg(long = "type", help = help_of(&Field::TYPE), value_name = "TYPE")]
    kind: Option<String>,

    #[arg(long, help = help_of(&Field::YEAR), allow_negative_numbers = true)]
    year: Option<String>,

    /// A value of another field, see 'robot-cli fields'; repeat it for several
    #[arg(long, value_name = PAIR)]
    set: Vec<String>,
}

/// What a value must be, as the help of an argument.
pub(crate) fn help_of(field: &Field) -> String {
    format!("The {field}: {}", field.limits())
}

/// The value of `--set` and `--where`, in help texts.
pub(crate) const PAIR: &str = "FIELD=VALUE";

impl Values {
    pub(crate) fn is_empty(&self) -> bool {
        self.kind.is_none() && self.year.is_none() && self.set.is_empty()
    }

    /// These values and a name, and the fields without a value.
    pub(crate) fn parse(
        &self,
        name: Option<&str>,
        unset: &[String],
        definition: &Definition,
    ) -> Result<(Draft, Vec<Field>), CliError> {
        let (mut draft, mut removed) = (Draft::default(), Vec::new());
        let mut set = |name: &str, text: Option<&str>| {
            let field = settable(name, definition)?;
            if draft.value(&field).is_some() || removed.contains(&field) {
                return Err(format!("{field} is given twice; give it once"));
            }
            // An empty text is no value, which the rules of texts decide.
            match text.filter(|text| !text.is_empty() || field.kind().is_text()) {
                Some(text) => draft.set(&field, field.parse_value(text)?),
                None => removed.push(field),
            }
            Ok(())
        };
        let built_in = [name, self.kind.as_deref(), self.year.as_deref()];
        for (name, text) in ["name", "type", "year"].into_iter().zip(built_in) {
            if let Some(text) = text {
                set(name, Some(text)).map_err(|message| invalid(name, text, message))?;
            }
        }
        for text in &self.set {
            let set = pair(text).and_then(|(name, value)| set(name, Some(value)));
            set.map_err(|message| invalid("set", text, message))?;
        }
        for name in unset {
            set(name, None).map_err(|message| invalid("unset", name, message))?;
        }
        Ok((draft, removed))
    }
}

/// The field with this name, if clients can set it.
pub(crate) fn settable(name: &str, definition: &Definition) -> Result<Field, String> {
    find(name, "fields", definition.settable(), Field::name)
}

/// The item with this name, or a message with the names of all.
pub(crate) fn find<T: Clone>(
    name: &str,
    what: &str,
    items: &[T],
    name_of: impl Fn(&T) -> &str,
) -> Result<T, String> {
    let found = items.iter().find(|item| name_of(item) == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<_> = items.iter().map(&name_of).collect();
        let (all, hint) = (names.join(", "), did_you_mean(name, names));
        format!("'{name}' is none of the {what} {all}{hint}")
    })
}

/// The end of a message about an unknown name.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = similar(name, known);
    nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"))
}

/// The name and the value of `FIELD=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(&str, &str), String> {
    let pair = text.split_once('=');
    pair.ok_or_else(|| format!("write it as {PAIR}"))
}

/// The failure for a wrong value of an option.
pub(crate) fn invalid(option: &str, text: &str, message: impl Display) -> CliError {
    CliError::usage(format_args!(
        "invalid value '{text}' for '--{option}': {message}"
    ))
}

/// The fields that a command prints.
#[derive(Debug, Clone)]
pub(crate) struct PrintedFields {
    pub(crate) fields: Vec<Field>,
    /// The number of fields that a table has on any terminal; it has the others if they fit.
    pub(crate) fixed: usize,
}

impl PrintedFields {
    /// All fields but the revision.
    pub(crate) fn of(definition: &Definition) -> Self {
        let fields = definition.default_fields().to_vec();
        let fixed = fields.iter().filter(|field| !field.is_own()).count();
        Self { fields, fixed }
    }

    /// The fields of `--fields`.
    pub(crate) fn parse(option: Option<&str>, definition: &Definition) -> Result<Self, CliError> {
        let Some(text) = option else {
            return Ok(Self::of(definition));
        };
        let fields = definition.list(text).map_err(|error| {
            let mut names = text.split(',');
            let unknown =
                names.find(|name| definition.readable().all(|field| field.name() != *name));
            let known = definition.readable().map(Field::name);
            let hint = unknown.map_or_else(String::new, |name| did_you_mean(name, known));
            invalid("fields", text, format_args!("{error}{hint}"))
        })?;
        let fixed = fields.len();
        Ok(Self { fields, fixed })
    }
}

/// The help of `--fields`.
pub(crate) fn fields_help() -> String {
    let names = Field::names(&[Field::ALL, Field::AUDIT].concat()).replace(',', ", ");
    format!(
        "Fields to print, separated by commas: {names}, and those of 'robot-cli fields'; '*' is all but the times and \
         the author of the last change [default: '*' without the revision]"
    )
}

/// An id on the command line. Digits that no robot can have as an id are valid: there is no robot
/// with this id, but the command line is correct.
pub(crate) type IdArgument = Result<RobotId, String>;

pub(crate) fn parse_id(text: &str) -> Result<IdArgument, ParseIdError> {
    match text.parse() {
        Err(ParseIdError::NeverAssigned) => Ok(Err(text.to_owned())),
        id => id.map(Ok),
    }
}
