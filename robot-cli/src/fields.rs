//! The fields of a robot on the command line: arguments of `add`, options of `update`, and the fields
//! that are printed.
//!
//! The definition of a catalogue is known when it is open, so the values are texts until then. The rules
//! about them are in `robot-core`, so that all interfaces report violations with the same messages.

use std::ffi::OsStr;

use clap::{
    Arg, ArgAction, ArgMatches, Command,
    builder::{StringValueParser, TypedValueParser},
};
use robot_core::{
    Definition, Draft, Field, Kind, ParseFieldsError, ParseIdError, RobotId, http::similar,
};

use crate::failure::Failure;

/// Implements [`clap::Args`] for a type of arguments that are made from the definition of the fields:
/// its `add_to` adds them to a command, and `read` returns their values.
macro_rules! impl_args {
    ($($type:ty),+) => {
        $(impl clap::FromArgMatches for $type {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self::read(matches))
            }

            fn update_from_arg_matches(
                &mut self,
                matches: &clap::ArgMatches,
            ) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl clap::Args for $type {
            fn augment_args(command: clap::Command) -> clap::Command {
                Self::add_to(command)
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        })+
    };
}
pub(crate) use impl_args;

/// The values of a new robot, or new values of robots; and the fields whose values are removed.
#[derive(Debug)]
pub(crate) struct Values<const IS_NEW: bool> {
    built_in: Vec<(&'static str, String)>,
    set: Vec<String>,
    unset: Vec<String>,
}

/// The values of a new robot.
pub(crate) type NewRobot = Values<true>;

/// New values of robots.
pub(crate) type Changes = Values<false>;

impl_args!(NewRobot, Changes);

impl NewRobot {
    fn add_to(command: Command) -> Command {
        let arguments = Field::SETTABLE.iter().map(|field| {
            let argument = argument(*field).help(format!("The {field}: {}", field.limits()));
            // The name is the only argument without an option, and required by every definition.
            if *field == Field::NAME {
                argument.required(true)
            } else {
                argument.long(field.name())
            }
        });
        let help = "A value of another field, see 'robot-cli fields'; repeat it for several";
        command
            .args(arguments)
            .arg(repeated("set", PAIR).help(help))
    }
}

impl Changes {
    fn add_to(command: Command) -> Command {
        let arguments = Field::SETTABLE.iter().map(|field| {
            let help = if *field == Field::NAME {
                "With an id, the new name; without, the exact name of the robot".to_owned()
            } else {
                format!("The new {field}: {}", field.limits())
            };
            argument(*field).long(field.name()).help(help)
        });
        let set = repeated("set", PAIR).help("The new value of a field; repeat it for several");
        let unset = repeated("unset", "FIELD").help("Remove the value of a field");
        command.args(arguments).args([set, unset])
    }

    /// Takes the value of `--name`.
    pub(crate) fn take_name(&mut self) -> Option<String> {
        let mut names = self
            .built_in
            .extract_if(.., |(name, _)| *name == Field::NAME.name());
        names.next().map(|(_, name)| name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.built_in.is_empty() && self.set.is_empty() && self.unset.is_empty()
    }
}

/// The value of `--set` and `--where`, in help texts.
pub(crate) const PAIR: &str = "FIELD=VALUE";

/// The argument for a value of a built-in field.
fn argument(field: Field) -> Arg {
    Arg::new(field.name())
        .value_name(value_name(field))
        .allow_negative_numbers(matches!(field.kind(), Kind::Integer { .. }))
}

fn repeated(name: &'static str, value_name: &'static str) -> Arg {
    let argument = Arg::new(name).long(name).value_name(value_name);
    argument.action(ArgAction::Append)
}

pub(crate) fn value_name(field: Field) -> String {
    field.name().to_uppercase()
}

/// What a value must be, as the message about an argument.
pub(crate) fn requirement(field: Field) -> String {
    let article = if field.choices().is_empty() {
        "a"
    } else {
        "the"
    };
    format!("{article} {field} is {}", field.requirement())
}

/// All values of an argument; none if the command does not have it.
pub(crate) fn texts(matches: &ArgMatches, name: &str) -> Vec<String> {
    let texts = matches.try_get_many(name).ok().flatten();
    texts.into_iter().flatten().cloned().collect()
}

impl<const IS_NEW: bool> Values<IS_NEW> {
    fn read(matches: &ArgMatches) -> Self {
        let built_in = Field::SETTABLE.iter().filter_map(|field| {
            let text = matches.get_one::<String>(field.name())?;
            Some((field.name(), text.clone()))
        });
        Self {
            built_in: built_in.collect(),
            set: texts(matches, "set"),
            unset: texts(matches, "unset"),
        }
    }

    /// The values, and the fields without one.
    pub(crate) fn parse(&self, definition: &Definition) -> Result<(Draft, Vec<Field>), Failure> {
        let (mut draft, mut removed) = (Draft::default(), Vec::new());
        for (name, text) in &self.built_in {
            let field = settable(name, definition).map_err(Failure::usage)?;
            let value = field.parse_value(text).map_err(|_| {
                let value_name = value_name(field);
                invalid(name, value_name, text, requirement(field))
            })?;
            draft.set(field, value);
        }
        for text in &self.set {
            let invalid = |message| invalid("set", PAIR, text, message);
            let (name, value) = pair(text).map_err(invalid)?;
            let field = settable(name, definition).map_err(invalid)?;
            if draft.value(field).is_some() || removed.contains(&field) {
                return Err(invalid(format!("{field} is given twice; give it once")));
            }
            // An empty text is no value, which the rules of texts decide.
            if value.is_empty() && !field.kind().is_text() {
                removed.push(field);
            } else {
                draft.set(field, field.parse_value(value).map_err(invalid)?);
            }
        }
        for name in &self.unset {
            let field = settable(name, definition);
            removed.push(field.map_err(|message| invalid("unset", "FIELD", name, message))?);
        }
        Ok((draft, removed))
    }
}

/// The field with this name, if clients can set it.
pub(crate) fn settable(name: &str, definition: &Definition) -> Result<Field, String> {
    find(name, "fields", definition.settable(), Field::name)
}

/// The item with this name, or a message with the names of all.
pub(crate) fn find<T: Copy>(
    name: &str,
    what: &str,
    items: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let found = items.iter().copied().find(|item| name_of(*item) == name);
    found.ok_or_else(|| {
        let names: Vec<_> = items.iter().map(|item| name_of(*item)).collect();
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

/// The failure for a wrong value of an option, as the parser of the command line reports it.
pub(crate) fn invalid(
    option: &str,
    value_name: impl Into<String>,
    text: &str,
    message: impl Into<String>,
) -> Failure {
    let (option, message) = (option.replace('_', "-"), message.into());
    let value_name = value_name.into();
    let option = Arg::new("").long(option).value_name(value_name).num_args(1);
    let error = message.clone();
    let parser = StringValueParser::new().try_map(move |_| Err::<String, _>(error.clone()));
    let refused = parser.parse_ref(&Command::new(""), Some(&option), OsStr::new(text));
    refused.map_or_else(Failure::from, |_| Failure::usage(message))
}

/// The fields that a command prints.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    pub(crate) fields: Vec<Field>,
    /// The number of fields that a table has on any terminal; it has the others if they fit.
    pub(crate) fixed: usize,
}

impl Columns {
    /// All fields but the revision.
    pub(crate) fn of(definition: &Definition) -> Self {
        let fields = definition.default_fields().to_vec();
        let fixed = fields.iter().filter(|field| !field.is_own()).count();
        Self { fields, fixed }
    }

    /// The fields of `--fields`.
    pub(crate) fn parse(option: Option<&str>, definition: &Definition) -> Result<Self, Failure> {
        let Some(text) = option else {
            return Ok(Self::of(definition));
        };
        let fields = definition.list(text).map_err(|error| {
            let hint = match &error {
                ParseFieldsError::Unknown { name, known } => did_you_mean(name, known.split(',')),
                _ => String::new(),
            };
            invalid("fields", "FIELDS", text, format!("{error}{hint}"))
        })?;
        let fixed = fields.len();
        Ok(Self { fields, fixed })
    }
}

/// The help of `--fields`.
pub(crate) fn fields_help() -> String {
    format!(
        "Fields to print, in this order: {}, others of 'robot-cli fields', or '*' [default: all but the \
         revision]",
        Field::names(Field::ALL)
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
