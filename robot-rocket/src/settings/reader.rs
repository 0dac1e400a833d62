//! Reader of settings, which collects the problems with all of them.

use std::{fmt::Display, num::NonZeroU32, str::FromStr, time::Duration};

use rocket::{
    figment::{Figment, Provider, value::Value},
    serde::Deserialize,
};

use super::{
    SettingsError,
    error::{unreadable, wrong_value},
};

/// Settings that are read, and the problems and warnings so far.
pub(super) struct Reader<'a> {
    pub(super) figment: &'a Figment,
    problems: Vec<String>,
    #[cfg(feature = "server")]
    pub(super) warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(figment: &'a Figment) -> Self {
        let problems = figment.data().err().iter().map(unreadable).collect();
        Self {
            figment,
            problems,
            #[cfg(feature = "server")]
            warnings: Vec::new(),
        }
    }

    /// Adds a problem, unless it is known: a setting may be read twice.
    pub(super) fn problem(&mut self, message: impl Into<String>) {
        let message = message.into();
        if !self.problems.contains(&message) {
            self.problems.push(message);
        }
    }

    #[cfg(feature = "server")]
    pub(super) fn warning(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    /// The number of problems.
    pub(super) fn problems(&self) -> usize {
        self.problems.len()
    }

    /// The value of a setting; `None` if it is not set, or wrong.
    pub(super) fn get<'de, T: Deserialize<'de>>(&mut self, name: &str) -> Option<T> {
        let value = self.figment.find_value(name).ok()?;
        let read = self.figment.extract_inner(name).ok();
        if read.is_none() {
            self.wrong(name, &value);
        }
        read
    }

    /// Adds the problem that a value does not have the form of its setting.
    pub(super) fn wrong(&mut self, name: &str, value: &Value) {
        self.problem(wrong_value(self.figment, name, value));
    }

    /// A whole number of seconds, 1 or more.
    pub(super) fn seconds(&mut self, name: &str) -> Option<Duration> {
        let seconds = self.get::<NonZeroU32>(name)?.get();
        Some(Duration::from_secs(seconds.into()))
    }

    /// A list in the format of `Rocket.toml`, or a text with commas, which is simpler in an environment
    /// variable. Every entry that cannot be parsed is a problem.
    pub(super) fn list<T>(&mut self, name: &str) -> Option<Vec<T>>
    where
        T: FromStr<Err: Display>,
    {
        let texts = self.get::<Texts>(name)?.into_vec();
        let variable = name.to_uppercase();
        let before = self.problems();
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
        (self.problems() == before).then_some(values)
    }

    /// Returns the settings, or the problems if there are any.
    pub(super) fn finish<T>(self, settings: T) -> Result<T, SettingsError> {
        SettingsError::check(self.problems).map(|()| settings)
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
