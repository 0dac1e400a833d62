//! Reader of settings, which collects the problems with all of them.

use std::{fmt::Display, num::NonZeroU32, path::PathBuf, str::FromStr, time::Duration};

use rocket::{
    figment::{Figment, Provider, value::magic::RelativePathBuf},
    serde::Deserialize,
};

use super::{SettingsError, error::unreadable, value};

/// What the value of a setting must be, as the end of a sentence.
type Expected = &'static str;

const SECONDS: Expected = "a whole number of seconds, 1 or more";
pub(super) const NUMBER: Expected = "a number, 1 or more";

/// Describes each setting where it is read, and collects their values, the problems and the warnings.
#[cfg_attr(
    not(feature = "server"),
    expect(dead_code, reason = "only the server program reports all of them")
)]
pub(super) struct Reader<'a> {
    pub(super) figment: &'a Figment,
    /// The settings that were read.
    pub(super) known: Vec<&'static str>,
    /// Their effective values without secrets, with their origin.
    pub(super) rows: Vec<[String; 3]>,
    pub(super) problems: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(message.into());
    }

    #[cfg(feature = "server")]
    pub(super) fn warning(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    /// The value of a setting; `None` if it is not set, or wrong.
    pub(super) fn get<'de, T: Deserialize<'de>>(
        &mut self,
        name: &'static str,
        expected: Expected,
    ) -> Option<T> {
        self.get_if(name, expected, |figment| figment.extract_inner(name).ok())
    }

    /// The same, read by a function.
    pub(super) fn get_if<T>(
        &mut self,
        name: &'static str,
        expected: Expected,
        read: impl FnOnce(&Figment) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let value = self.figment.find_value(name).ok()?;
        let read = read(self.figment);
        if read.is_none() {
            self.problem(value::wrong(self.figment, name, expected, &value));
        }
        self.rows.push([
            name.to_owned(),
            value::shown(name, &value),
            value::origin(name, &value, self.figment),
        ]);
        read
    }

    /// Reports the value that a setting has if it is not set.
    pub(super) fn report_default(&mut self, name: &'static str, value: &impl ToString) {
        if !self.figment.contains(name) {
            let row = [name, &value.to_string(), "default"];
            self.rows.push(row.map(str::to_owned));
        }
    }

    /// The value of a setting, or this one.
    pub(super) fn get_or<'de, T: Deserialize<'de> + ToString>(
        &mut self,
        name: &'static str,
        expected: Expected,
        default: T,
    ) -> T {
        self.report_default(name, &default);
        self.get(name, expected).unwrap_or(default)
    }

    /// A whole number of seconds, 1 or more.
    pub(super) fn seconds(&mut self, name: &'static str, default: Duration) -> Duration {
        self.report_default(name, &default.as_secs());
        let seconds = self.get::<NonZeroU32>(name, SECONDS);
        seconds.map_or(default, |seconds| Duration::from_secs(seconds.get().into()))
    }

    /// A number, 1 or more.
    pub(super) fn number(&mut self, name: &'static str, default: u32) -> u32 {
        self.report_default(name, &default);
        let number: Option<NonZeroU32> = self.get(name, NUMBER);
        number.map_or(default, NonZeroU32::get)
    }

    pub(super) fn path(&mut self, name: &'static str, expected: Expected) -> Option<PathBuf> {
        self.report_default(name, &"none");
        let path: Option<RelativePathBuf> = self.get(name, expected);
        path.map(|path| path.relative())
    }

    /// A list in the format of `Rocket.toml`, or a text with commas, which is simpler in an environment
    /// variable. Every entry that cannot be parsed is a problem.
    pub(super) fn list<T>(&mut self, name: &'static str, expected: Expected) -> Option<Vec<T>>
    where
        T: FromStr<Err: Display>,
    {
        let texts = self.get::<Texts>(name, expected)?.into_vec();
        let variable = name.to_uppercase();
        let before = self.problems.len();
        let values = texts.iter().filter_map(|text| match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(format!(
                    "{name}: {error} (set them with ROCKET_{variable} or in Rocket.toml)"
                ));
                None
            }
        });
        let values = values.collect();
        (self.problems.len() == before).then_some(values)
    }

    /// Reads settings: returns them, or the problems if there are any.
    pub(super) fn read<T>(
        figment: &'a Figment,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, SettingsError> {
        let mut reader = Self {
            figment,
            known: Vec::new(),
            rows: Vec::new(),
            problems: figment.data().err().iter().map(unreadable).collect(),
            warnings: Vec::new(),
        };
        let settings = read(&mut reader);
        if reader.problems.is_empty() {
            Ok(settings)
        } else {
            Err(SettingsError(reader.problems))
        }
    }
}

/// A list of texts.
#[derive(Deserialize)]
#[serde(crate = "rocket::serde", untagged)]
pub(super) enum Texts {
    /// Separated by commas.
    One(String),
    Many(Vec<String>),
}

impl Texts {
    pub(super) fn into_vec(self) -> Vec<String> {
        let texts = match self {
            Self::One(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
            Self::Many(texts) => texts,
        };
        texts.into_iter().filter(|text| !text.is_empty()).collect()
    }
}
