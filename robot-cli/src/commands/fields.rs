//! `fields`: the definition of a catalogue.

use std::{ffi::OsString, io::Read, sync::Arc};

use clap::{ArgAction, Args, Subcommand};
use robot_core::{Catalogue, Definition, DefinitionDraft, Field, Redefinition};
use serde::Serialize;
use serde_json::{Map, Number, Value, json};

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::settable,
    path_argument::PathArgument,
    rows::Rows,
};

pub(super) const EXAMPLES: &str = include_str!("../help/fields.txt");

/// Arguments of `fields`.
#[derive(Debug, Args)]
#[command(subcommand_value_name = "COMMAND")]
pub(crate) struct FieldsArgs {
    #[command(subcommand)]
    command: Option<FieldsCommand>,

    /// Drop the values of removed fields, and values that cannot be converted
    #[arg(long, global = true)]
    drop_values: bool,
}

/// Subcommands of `fields`.
#[derive(Debug, Subcommand)]
enum FieldsCommand {
    /// Add a field
    #[command(after_help = EXAMPLES)]
    Add {
        /// The name: a to z, 0 to 9 and _, the first one a letter
        name: String,

        #[command(flatten)]
        keywords: Keywords,
    },

    /// Change a field
    ///
    /// The built-in fields permit some of the options. With --type or --choices, the field loses its limits.
    #[command(after_help = EXAMPLES)]
    Change {
        /// The name
        name: String,

        #[command(flatten)]
        keywords: Keywords,
    },

    /// Remove a field
    #[command(after_help = EXAMPLES)]
    Remove {
        /// The name
        name: String,
    },

    /// Replace the definition by a document in JSON
    #[command(after_help = EXAMPLES)]
    Set {
        /// The document; - for standard input
        #[arg(value_name = "FILE|-")]
        file: OsString,
    },

    /// Print the definition as a document in JSON
    #[command(after_help = EXAMPLES)]
    Show,
}

/// The keywords of a field, with their names in the document.
#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "camelCase")]
struct Keywords {
    /// The type: string, integer, number or boolean
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    kind: Option<String>,

    /// The texts to choose from, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    #[serde(rename = "enum")]
    choices: Option<Vec<String>>,

    /// Whether each robot needs a value
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(skip)]
    required: Option<bool>,

    /// Whether robots have different values
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    unique: Option<bool>,

    /// Whether robots are found and sorted quickly by the field
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    index: Option<bool>,

    /// Whether --words finds the texts of the field
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    search: Option<bool>,

    /// The maximum number of characters, by default 255
    #[arg(long, value_name = "NUMBER")]
    max_length: Option<Number>,

    /// A regular expression that matches all texts
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,

    #[arg(long, value_parser = OutputFormat::parser(&formats()), hide_possible_values = true)]
    #[arg(action = ArgAction::Append)]
    #[arg(help = format!("Of texts: {}; or of the output", formats().join(" or ")))]
    #[serde(skip)]
    format: Vec<String>,

    /// The least number
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    minimum: Option<Number>,

    /// The greatest number
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    maximum: Option<Number>,

    /// The label for people
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// An explanation for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

/// The formats of texts.
fn formats() -> Vec<&'static str> {
    robot_core::Format::NAMED
        .iter()
        .map(|format| format.name)
        .collect()
}

impl Keywords {
    /// Sets the given keywords of a property in the document, and removes those that they exclude.
    fn apply(&self, property: &mut Map<String, Value>) {
        let mut given = json!(self).as_object().cloned().unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let mut values = self.format.iter().map(String::as_str);
        let format = values.find(|format| formats().contains(format));
        given.extend(format.map(|format| ("format".to_owned(), json!(format))));
        property.retain(|present, _| {
            !given.keys().any(|name| match name.as_str() {
                "type" | "enum" => !OF_EVERY_TYPE.contains(&present.as_str()),
                "pattern" => present == "format",
                "format" => present == "pattern",
                _ => false,
            })
        });
        property.extend(given);
        let is_text = property.get("type").is_none_or(|kind| kind == "string");
        if !is_text && self.search != Some(true) {
            property.remove("search");
        }
    }
}

/// The keywords that do not depend on the type.
const OF_EVERY_TYPE: [&str; 5] = ["title", "description", "unique", "index", "search"];

/// The definition in which a field has these keywords, too, or is missing. It must still be the present one
/// when it is changed. The fields stay in their order.
fn edited(
    present: &Definition,
    name: &str,
    keywords: Option<&Keywords>,
) -> Result<Redefinition, CliError> {
    let mut draft = DefinitionDraft::from(present);
    match keywords {
        None => draft.remove(name),
        Some(keywords) => {
            keywords.apply(draft.property(name));
            if let Some(is_required) = keywords.required {
                draft.require(name, is_required);
            }
        }
    }
    let definition = draft.build().map_err(CliError::new)?;
    let mut redefinition = Redefinition::new(definition);
    redefinition.expected = Some(present.revision());
    Ok(redefinition)
}

/// Prints or changes the definition.
pub(crate) fn run(args: FieldsArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let (catalogue, mut redefinition, done) = match args.command {
        None => return print(context),
        Some(FieldsCommand::Show) => {
            let text = format!("{}\n", context.open_existing()?.definition());
            return context.print(&text, CliError::output);
        }
        Some(FieldsCommand::Add { name, keywords }) => add(&name, &keywords, context)?,
        Some(FieldsCommand::Change { name, keywords }) => change(&name, Some(&keywords), context)?,
        Some(FieldsCommand::Remove { name }) => change(&name, None, context)?,
        Some(FieldsCommand::Set { file }) => {
            let definition = read(&PathArgument::new(&file), context)?;
            let done = format!(
                "The catalogue has {} fields now.",
                definition.settable().len()
            );
            (context.open()?, Redefinition::new(definition), done)
        }
    };
    redefinition.drops_values = args.drop_values;
    let definition = catalogue.define(redefinition)?;
    let names = Field::names(definition.settable());
    let names = names.split(',').collect::<Vec<_>>().into();
    let revision = definition.revision().get().into();
    let members = [("fields", names), ("revision", revision)];
    context.print_result(&done, &members, CliError::change_not_shown)
}

/// A catalogue, its new definition, and what is printed then.
type Change = (Arc<dyn Catalogue>, Redefinition, String);

fn add(name: &str, keywords: &Keywords, context: &Context<'_>) -> Result<Change, CliError> {
    let (catalogue, redefinition) = context.open_for(|present| match settable(name, present) {
        Ok(field) => Err(CliError::new(format_args!(
            "{field} is a field already; change it with: robot-cli fields change {field}"
        ))),
        Err(_) => edited(present, name, Some(keywords)),
    })?;
    Ok((catalogue, redefinition, format!("Added the field {name}.")))
}

/// Changes keywords of a field, or removes it.
fn change(
    name: &str,
    keywords: Option<&Keywords>,
    context: &Context<'_>,
) -> Result<Change, CliError> {
    let catalogue = context.open_existing()?;
    let present = catalogue.definition();
    let field = settable(name, &present).map_err(CliError::new)?;
    if keywords.is_none() && field.is(&Field::NAME) {
        return Err(CliError::new(
            "Each robot needs a name, which cannot be removed.",
        ));
    }
    let action = keywords.map_or("Removed", |_| "Changed");
    let redefinition = edited(&present, name, keywords)?;
    let done = format!("{action} the field {name}.");
    Ok((catalogue, redefinition, done))
}

/// Reads a document.
fn read(path: &PathArgument, context: &Context<'_>) -> Result<Definition, CliError> {
    let input = path.reader(context)?;
    let mut text = String::new();
    // More than a document may have.
    let read = input.take(1024 * 1024).read_to_string(&mut text);
    read.map_err(|cause| path.not_read(&cause))?;
    let definition = text.parse();
    definition.map_err(|error| CliError::new(format_args!("{path}: {error}")))
}

const COLUMNS: [&str; 8] = [
    "name", "type", "title", "required", "unique", "index", "search", "limits",
];

/// Prints the fields.
fn print(context: &mut Context<'_>) -> Result<(), CliError> {
    let definition = context.open_existing()?.definition();
    let format = context.print_format();
    let flag = |is_set| match (format, is_set) {
        (OutputFormat::Table, true) => json!("yes"),
        (OutputFormat::Table, false) => json!(null),
        _ => json!(is_set),
    };
    let rows = definition.settable().iter().map(|field| {
        let kind = match field.choices() {
            [] => field.kind().json_type(),
            _ => "enum",
        };
        let is_searched = field.is_searched() || field.is(&Field::NAME);
        vec![
            json!(field.name()),
            json!(kind),
            json!(field.title()),
            flag(field.is_required()),
            flag(field.is_unique()),
            flag(field.is_indexed()),
            flag(is_searched),
            json!(field.limits()),
        ]
    });
    let rows = Rows {
        columns: COLUMNS.to_vec(),
        rows: rows.collect(),
    };
    let printed = rows.print(format, ["", ""], context.output);
    printed.map_err(CliError::output)
}
