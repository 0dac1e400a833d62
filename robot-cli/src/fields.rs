//! The fields of a robot on the command line: arguments of `add`, options of `update`, and the fields
//! that are printed.
//!
//! The rules about their values are in `robot-core`, so that all interfaces report violations with
//! the same messages.

use clap::{Arg, ArgGroup, ArgMatches, Command};
use robot_core::{Draft, Field, Kind, ParseIdError, RobotId, Value};

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

/// The values of a new robot.
#[derive(Debug)]
pub(crate) struct NewRobot(pub(crate) Draft);

/// The new values of a robot: at least one.
#[derive(Debug)]
pub(crate) struct Changes(pub(crate) Draft);

impl_args!(NewRobot, Changes);

impl NewRobot {
    fn add_to(command: Command) -> Command {
        let arguments = Field::SETTABLE.iter().map(|field| {
            let argument = argument(*field)
                .help(format!("The {field}: {}", field.limits()))
                .required(field.is_required());
            // The name is the only argument without an option.
            if *field == Field::NAME {
                argument
            } else {
                argument.long(field.name())
            }
        });
        command.args(arguments)
    }

    fn read(matches: &ArgMatches) -> Self {
        Self(draft(matches))
    }
}

impl Changes {
    fn add_to(command: Command) -> Command {
        let arguments = Field::SETTABLE.iter().map(|field| {
            let hint = match field.kind() {
                Kind::Text { .. } => {
                    let value = value_name(*field);
                    format!("; write --{field}=-{value} if it begins with a hyphen")
                }
                _ => format!(": {}", field.limits()),
            };
            argument(*field)
                .long(field.name())
                .help(format!("The new {field}{hint}"))
        });
        let group = ArgGroup::new("changes").required(true).multiple(true);
        let group = group.args(Field::SETTABLE.iter().map(|field| field.name()));
        command.args(arguments).group(group)
    }

    fn read(matches: &ArgMatches) -> Self {
        Self(draft(matches))
    }
}

/// The usage of `update`. The one that clap derives shows the options as alternatives.
pub(crate) fn update_usage() -> String {
    let options = Field::SETTABLE
        .iter()
        .map(|field| format!("[--{field} <{}>] ", value_name(*field)));
    format!(
        "robot-cli update [OPTIONS] {}<ID>",
        options.collect::<String>()
    )
}

/// The argument for a value of a field.
fn argument(field: Field) -> Arg {
    let parse = move |text: &str| {
        let value = field.parse_value(text).map(Value::into_owned);
        value.map_err(|_| requirement(field))
    };
    Arg::new(field.name())
        .value_name(value_name(field))
        .allow_negative_numbers(matches!(field.kind(), Kind::Integer { .. }))
        .value_parser(parse)
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

fn draft(matches: &ArgMatches) -> Draft {
    let mut draft = Draft::default();
    for field in Field::SETTABLE {
        if let Some(value) = matches.get_one::<Value<'static>>(field.name()) {
            draft.set(*field, value.clone());
        }
    }
    draft
}

/// The help of `--fields`.
pub(crate) fn fields_help() -> String {
    format!(
        "Fields to print, in the given order: {}",
        Field::names(Field::ALL)
    )
}

/// The value of `--fields`. The name hides from clap that it is a list, because it is one argument.
pub(crate) type FieldList = Vec<Field>;

/// An id on the command line. Digits that no robot can have as an id are valid: there is no robot
/// with this id, but the command line is correct.
pub(crate) type IdArgument = Result<RobotId, String>;

pub(crate) fn parse_id(text: &str) -> Result<IdArgument, ParseIdError> {
    match text.parse() {
        Err(ParseIdError::NeverAssigned) => Ok(Err(text.to_owned())),
        id => id.map(Ok),
    }
}
