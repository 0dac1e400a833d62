//! Settings and output that all commands share.

use std::{cell::OnceCell, env, io::Write, sync::Arc};

use clap::{
    ValueEnum,
    builder::{PossibleValue, PossibleValuesParser},
};
use robot_core::{
    AuthoredCatalogue, Catalogue, Definition, OpenError, OpenOptions, Preparation, StoreFiles,
    transfer,
};

use crate::error::CliError;

/// The global options, and the output.
pub(crate) struct Context<'a> {
    /// The URL of the catalogue.
    pub(crate) database: String,
    pub(crate) options: OpenOptions,
    /// The value of `--database`, if it was given.
    pub(crate) database_option: Option<String>,
    /// The author of changes.
    pub(crate) author: Option<String>,
    /// The value of `--format`.
    pub(crate) format: Option<OutputFormat>,
    pub(crate) output: &'a mut dyn Write,
    /// The definition of the catalogue when it was opened first.
    pub(crate) definition: OnceCell<Arc<Definition>>,
}

/// The maximum length of the name of an author, which the column on MariaDB has.
const AUTHOR_LENGTH: usize = 255;

/// The user of the operating system; `None` if it is unknown.
pub(crate) fn user() -> Option<String> {
    let variables = ["USER", "LOGNAME"].into_iter();
    let names = variables.filter_map(|variable| env::var(variable).ok());
    let mut names = names.filter(|name| !name.is_empty());
    let name = names.next().or_else(|| whoami::username().ok())?;
    Some(name.chars().take(AUTHOR_LENGTH).collect())
}

impl Context<'_> {
    /// Opens the catalogue, and creates it if it does not exist.
    pub(crate) fn open(&self) -> Result<Arc<dyn Catalogue>, OpenError> {
        self.open_with(self.options)
    }

    /// Opens the catalogue if it exists.
    pub(crate) fn open_existing(&self) -> Result<Arc<dyn Catalogue>, OpenError> {
        self.open_with(OpenOptions {
            must_exist: true,
            ..self.options
        })
    }

    fn open_with(&self, options: OpenOptions) -> Result<Arc<dyn Catalogue>, OpenError> {
        let catalogue = options.open(&self.database)?;
        self.definition.get_or_init(|| catalogue.definition());
        Ok(match &self.author {
            Some(author) => Arc::new(AuthoredCatalogue::new(catalogue, author)),
            None => catalogue,
        })
    }

    /// Reads the definition of a catalogue file, for a command that does not open it otherwise.
    pub(crate) fn read_definition(&self) {
        if self.definition.get().is_none() && self.database.starts_with("sqlite:") {
            // Without it, the messages have the word robots.
            let _ = self.open_with(OpenOptions {
                must_exist: true,
                preparation: Preparation::Keep,
                ..self.options
            });
        }
    }

    /// A text for people, with what the owner of the catalogue calls the robots, if it is known.
    pub(crate) fn worded(&self, text: &str) -> String {
        let definition = self.definition.get();
        definition.map_or_else(|| text.to_owned(), |definition| definition.worded(text))
    }

    /// Opens the catalogue, unless it does not exist.
    pub(crate) fn open_present(&self) -> Result<Option<Arc<dyn Catalogue>>, OpenError> {
        match self.open_existing() {
            Err(OpenError::Missing(_)) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens the catalogue, and parses arguments by its definition. It is created only if they can be parsed.
    pub(crate) fn open_for<T>(
        &self,
        parse: impl Fn(&Definition) -> Result<T, CliError>,
    ) -> Result<(Arc<dyn Catalogue>, T), CliError> {
        let existing = self.open_present()?;
        let definition = existing.as_ref().map(Catalogue::definition);
        let parsed = parse(definition.as_ref().unwrap_or(Definition::built_in()))?;
        Ok((existing.map_or_else(|| self.open(), Ok)?, parsed))
    }

    /// The files of the catalogue, which no command may write otherwise.
    pub(crate) fn files(&self) -> StoreFiles {
        StoreFiles::of_url(&self.database)
    }

    /// The format to print in.
    pub(crate) fn print_format(&self) -> OutputFormat {
        self.format.unwrap_or_default()
    }
}

/// An output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Aligned columns; control characters in names are escaped
    #[default]
    Table,
    /// An array of objects; add, get and update print one object
    Json,
    /// One JSON object per line
    Ndjson,
    /// A header line, then one row per robot
    Csv,
}

impl OutputFormat {
    /// The parser of `--format`, which permits other values, too.
    pub(crate) fn parser(others: &[&'static str]) -> PossibleValuesParser {
        let formats = Self::value_variants()
            .iter()
            .filter_map(Self::to_possible_value);
        PossibleValuesParser::new(formats.chain(others.iter().map(PossibleValue::new)))
    }

    /// The format that is among the values of `--format`.
    pub(crate) fn among(values: &[String]) -> Option<Self> {
        values
            .iter()
            .find_map(|value| Self::from_str(value, false).ok())
    }

    /// The format of files, if it is one.
    pub(crate) fn of_files(self) -> Option<transfer::FileFormat> {
        match self {
            Self::Table => None,
            Self::Json => Some(transfer::FileFormat::Json),
            Self::Ndjson => Some(transfer::FileFormat::Ndjson),
            Self::Csv => Some(transfer::FileFormat::Csv),
        }
    }
}
