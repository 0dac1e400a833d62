//! Names that are not settings: misspelt ones are errors, others are warnings.
//!
//! A misspelt name would have no effect. For `api_tokens`, the server would accept anonymous writes.

use rocket::{
    Config,
    figment::{
        self, Figment, Profile, Provider,
        providers::{Env, Format, Toml},
        value::{Dict, Value},
    },
};
use strsim::damerau_levenshtein;

use super::{SettingProblem, SettingsError, error::place, keys};

/// The profiles of Rocket.
const PROFILES: [&str; 4] = ["default", "global", "debug", "release"];

/// A name is similar to one of this many characters per differing character.
const CHARACTERS_PER_ERROR: usize = 4;

/// Checks the names of all settings, of all profiles. Returns the problems and the warnings.
pub(super) fn check(
    figment: &Figment,
) -> Result<(Vec<SettingProblem>, Vec<String>), SettingsError> {
    let mut names = Names {
        figment,
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    names.check_file();
    let known = known();
    for (profile, settings) in figment.data()? {
        names.check_profile(&profile, &settings);
        names.check_settings(&profile, &mut Vec::new(), &settings, &known);
    }
    names.check_selected_profile();
    let problems = names.problems.into_iter().map(SettingProblem::Server);
    Ok((problems.collect(), names.warnings))
}

/// All settings, with the settings within them.
fn known() -> Dict {
    let mut known: Dict = keys::ALL
        .iter()
        .map(|key| (key.name.to_owned(), Value::from("")))
        .collect();
    known.extend(members(&Value::serialize(Config::default())));
    #[cfg(feature = "tls")]
    {
        let tls = rocket::config::TlsConfig::from_bytes(&[], &[]);
        let tls = members(&Value::serialize(tls));
        known.insert(Config::TLS.to_owned(), tls.into());
    }
    known
}

fn members(value: &Result<Value, figment::Error>) -> Dict {
    let members = value.as_ref().ok().and_then(Value::as_dict);
    members.cloned().unwrap_or_default()
}

struct Names<'a> {
    figment: &'a Figment,
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Names<'_> {
    /// Rocket ignores `ROCKET_CONFIG` if there is no such file.
    fn check_file(&mut self) {
        if let Some(path) = Env::var("ROCKET_CONFIG")
            && Toml::file(&path).metadata().source.is_none()
        {
            self.problems.push(format!(
                "ROCKET_CONFIG names '{path}', which is not a file; correct the path, or remove \
                 the variable"
            ));
        }
    }

    /// A table `[tls]` is a profile to Rocket, not the setting `tls`.
    fn check_profile(&mut self, profile: &Profile, settings: &Dict) {
        let name = profile.as_str().as_str();
        if profile == self.figment.profile() || PROFILES.contains(&name) {
            return;
        }
        let file = settings.values().next().and_then(|value| {
            let metadata = self.figment.get_metadata(value.tag())?;
            metadata.source.as_ref().map(ToString::to_string)
        });
        let file = file.unwrap_or_else(|| "Rocket.toml".to_owned());
        if keys::find(name).is_some() {
            self.problems.push(format!(
                "[{name}] in {file} has no effect, because settings stand below a profile; write \
                 [default.{name}]"
            ));
        } else if let Some(similar) = similar(name, PROFILES) {
            self.problems.push(format!(
                "[{name}] in {file} is not the selected profile, so it has no effect; did you \
                 mean [{similar}]?"
            ));
        }
    }

    /// A profile that no file has selects nothing.
    fn check_selected_profile(&mut self) {
        let selected = self.figment.profile();
        let name = selected.as_str().as_str();
        let profiles: Vec<_> = self.figment.profiles().collect();
        if PROFILES.contains(&name) || profiles.contains(&selected) {
            return;
        }
        let existing = profiles.iter().map(|profile| profile.as_str().as_str());
        match similar(name, existing.chain(PROFILES)) {
            Some(similar) => self.problems.push(format!(
                "ROCKET_PROFILE={name} selects no table of Rocket.toml; did you mean {similar}?"
            )),
            None => self.warnings.push(format!(
                "ROCKET_PROFILE={name} has no effect, because Rocket.toml has no table [{name}]"
            )),
        }
    }

    /// Checks the names in a table, and in the tables within it.
    fn check_settings(
        &mut self,
        profile: &Profile,
        path: &mut Vec<String>,
        settings: &Dict,
        known: &Dict,
    ) {
        for (name, value) in settings {
            path.push(name.clone());
            // The limit `file/jpeg` is a part of the limit `file`.
            let first = name.split('/').next().unwrap_or(name);
            match (known.get(first), value.as_dict()) {
                (Some(Value::Dict(_, known)), Some(settings)) => {
                    self.check_settings(profile, path, settings, known);
                }
                (Some(_), _) => {}
                (None, _) => self.report(profile, path, value, similar(first, known.keys())),
            }
            path.pop();
        }
    }

    fn report(&mut self, profile: &Profile, path: &[String], value: &Value, similar: Option<&str>) {
        let place = place(self.figment.get_metadata(value.tag()), profile, path);
        let Some(similar) = similar else {
            // A problem with this variable is reported by `check_file`.
            if place != "ROCKET_CONFIG" {
                self.warnings
                    .push(format!("{place} is not a setting, and has no effect"));
            }
            return;
        };
        let tables = &path[..path.len() - 1];
        let mut suggestion = [tables, &[similar.to_owned()]].concat().join(".");
        if place.starts_with("ROCKET_") {
            suggestion = format!("ROCKET_{}", suggestion.to_uppercase());
        }
        self.problems.push(format!(
            "{place} is not a setting; did you mean {suggestion}?"
        ));
    }
}

/// The name that a misspelt one probably stands for.
fn similar<'a, T: AsRef<str> + ?Sized + 'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a T>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(AsRef::as_ref)
        .filter_map(|known| distance(&name, known).map(|distance| (distance, known)))
        .min()
        .map(|(_, known)| known)
}

/// The number of differences, if they are few. A name that consists of words of the other, such as
/// `tokens` for `api_tokens`, has as few.
fn distance(name: &str, known: &str) -> Option<usize> {
    let differences = damerau_levenshtein(name, known);
    let limit = (known.chars().count() / CHARACTERS_PER_ERROR).max(1);
    let is_word_of_known = |word: &str| {
        word.len() > 2
            && known
                .split('_')
                .any(|known| damerau_levenshtein(word, known) <= 1)
    };
    let is_part = name.split(['_', '-']).all(is_word_of_known);
    (differences <= limit || is_part).then_some(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(name: &str) -> Option<String> {
        similar(name, known().keys()).map(str::to_owned)
    }

    #[test]
    fn misspelt_name_is_similar_to_its_setting() {
        for (name, known) in [
            ("api_token", "api_tokens"),
            ("api-tokens", "api_tokens"),
            ("apitokens", "api_tokens"),
            ("tokens", "api_tokens"),
            ("token", "api_tokens"),
            ("behavior", "behaviour"),
            ("Behaviour", "behaviour"),
            ("database_ulr", "database_url"),
            ("allow_hosts", "allowed_hosts"),
            ("hosts", "allowed_hosts"),
            ("allowed_origin", "allowed_origins"),
            ("anonymous", "allow_anonymous"),
            ("static", "static_dir"),
            ("adress", "address"),
            ("prot", "port"),
            ("tsl", "tls"),
            ("database_timout", "database_timeout"),
            ("worker", "workers"),
            ("log", "log_level"),
        ] {
            assert_eq!(suggested(name).as_deref(), Some(known), "{name}");
        }
    }

    #[test]
    fn other_name_is_similar_to_no_setting() {
        // Kubernetes sets such variables for a service named "rocket".
        for name in [
            "service_host",
            "port_8000_tcp_addr",
            "port_8000_tcp_port",
            "env",
            "colour",
        ] {
            assert_eq!(suggested(name), None, "{name}");
        }
    }

    #[test]
    fn known_settings_include_those_in_tables() {
        let known = known();
        let has = |table: &str, name: &str| {
            let table = known.get(table).and_then(Value::as_dict);
            table.is_some_and(|members| members.contains_key(name))
        };
        assert!(has("shutdown", "grace"));
        assert!(has("limits", "data-form"));
        assert_eq!(has("tls", "certs"), cfg!(feature = "tls"));
    }
}
