//! Reader of settings, which collects the problems with all of them.

use std::{fmt::Display, num::NonZeroU32, path::PathBuf, str::FromStr, time::Duration};

use rocket::{
    figment::{
        Figment, Provider,
        value::{Value, magic::RelativePathBuf},
    },
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
    /// Their effective values without secrets, with their origin. A long value moves only its own origin.
    pub(super) rows: Vec<String>,
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

    /// Reports the effective value of a setting, and its origin.
    pub(super) fn report(&mut self, name: &str, value: &impl ToString, origin: &str) {
        let value = value.to_string();
        self.rows.push(format!("{name:27}  {value:30}  {origin}"));
    }

    /// The value of a setting; `None` if it is not set, and this text describes its default, or wrong.
    pub(super) fn get<'de, T: Deserialize<'de>>(
        &mut self,
        name: &'static str,
        expected: Expected,
        default: &impl ToString,
    ) -> Option<T> {
        let figment = self.figment;
        self.get_if(name, expected, default, |_| {
            figment.extract_inner(name).ok()
        })
    }

    /// The same, read by a function.
    pub(super) fn get_if<T>(
        &mut self,
        name: &'static str,
        expected: Expected,
        default: &impl ToString,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let Ok(value) = self.figment.find_value(name) else {
            self.report(name, default, "default");
            return None;
        };
        let read = read(&value);
        if read.is_none() {
            self.problem(value::wrong(self.figment, name, expected, &value));
        }
        let origin = value::origin(name, &value, self.figment);
        self.report(name, &value::shown(name, &value), &origin);
        read
    }

    /// The value of a setting, or this one.
    pub(super) fn get_or<'de, T: Deserialize<'de> + ToString>(
        &mut self,
        name: &'static str,
        expected: Expected,
        default: T,
    ) -> T {
        self.get(name, expected, &default).unwrap_or(default)
    }

    /// A whole number of seconds, 1 or more.
    pub(super) fn seconds(&mut self, name: &'static str, default: Duration) -> Duration {
        let seconds = self.get::<NonZeroU32>(name, SECONDS, &default.as_secs());
        seconds.map_or(default, |seconds| Duration::from_secs(seconds.get().into()))
    }

    /// A number, 1 or more.
    pub(super) fn number(&mut self, name: &'static str, default: u32) -> u32 {
        let number: Option<NonZeroU32> = self.get(name, NUMBER, &default);
        number.map_or(default, NonZeroU32::get)
    }

    pub(super) fn path(&mut self, name: &'static str, expected: Expected) -> Option<PathBuf> {
        let path: Option<RelativePathBuf> = self.get(name, expected, &"none");
        path.map(|path| path.relative())
    }

    /// A list in the format of `Rocket.toml`, or a text with commas, which is simpler in an environment
    /// variable. Every entry that cannot be parsed is a problem.
    pub(super) fn list<T: FromStr<Err: Display>>(
        &mut self,
        name: &'static str,
        expected: Expected,
        default: &str,
    ) -> Option<Vec<T>> {
        let texts = self.get_if(name, expected, &default, value::texts)?;
        let variable = name.to_uppercase();
        let before = self.problems.len();
        let values = texts.iter().filter_map(|text| {
            let report = |error| {
                self.problem(format!(
                    "{name}: {error} (set them with ROCKET_{variable} or in Rocket.toml)"
                ));
            };
            text.parse().map_err(report).ok()
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
        match reader.problems {
            problems if problems.is_empty() => Ok(settings),
            problems => Err(SettingsError(problems)),
        }
    }
}
