//! Names that are not settings: misspelt ones are errors, others are warnings.
//!
//! A misspelt name would have no effect. For `api_tokens`, the server would accept anonymous writes; for
//! `tls`, it would not encrypt. Names that other programs may need are no errors.

use std::env;

use rocket::{
    Config,
    figment::{
        self, Figment, Profile, Provider,
        providers::{Env, Format, Toml},
        value::{Dict, Value},
    },
};
use strsim::damerau_levenshtein;
use tracing_subscriber::filter::Directive;

use super::{SettingProblem, SettingsError, error::place, keys, store::database_sources};

/// The profiles of Rocket.
const PROFILES: [&str; 4] = ["default", "global", "debug", "release"];

/// The levels of the log.
const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Names that are similar to a setting, but belong to an extension of Rocket (`rocket_db_pools`).
const OF_EXTENSIONS: [&str; 1] = ["databases"];

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
    names.check_variables();
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

    /// Variables whose names do not begin with `ROCKET_`.
    fn check_variables(&mut self) {
        if !database_sources(self.figment).contains("database_url") {
            let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            let misspelt = names.filter(|name| is_misspelt(&name.to_lowercase(), "database_url"));
            self.warnings.extend(
                misspelt.map(|name| format!("{name} is not a setting; did you mean DATABASE_URL?")),
            );
        }
        let filter = env::var("RUST_LOG").unwrap_or_default();
        for level in filter.split(',').filter(|level| !level.is_empty()) {
            if level.parse::<Directive>().is_err() {
                self.warnings.push(format!(
                    "'{level}' of RUST_LOG is ignored; write a level, such as info, or MODULE=LEVEL"
                ));
            } else if !LOG_LEVELS.contains(&level.to_lowercase().as_str())
                && let Some(known) = similar(level, LOG_LEVELS)
            {
                self.warnings.push(format!(
                    "'{level}' of RUST_LOG is not a level; did you mean {known}?"
                ));
            }
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
                (None, _) => self.report(profile, path, value, known),
            }
            path.pop();
        }
    }

    /// Reports a name that is not among the known ones of its table.
    fn report(&mut self, profile: &Profile, path: &[String], value: &Value, known: &Dict) {
        let place = place(self.figment.get_metadata(value.tag()), profile, path);
        let Some(mut suggestion) = suggestion(path, known) else {
            // A problem with this variable is reported by `check_file`.
            if place != "ROCKET_CONFIG" {
                self.warnings
                    .push(format!("{place} is not a setting, and has no effect"));
            }
            return;
        };
        if place.starts_with("ROCKET_") {
            let (name, example) = match suggestion.split_once('=') {
                Some((name, example)) => (name, format!("={example}")),
                None => (suggestion.as_str(), String::new()),
            };
            suggestion = format!("ROCKET_{}{example}", name.to_uppercase());
        }
        self.problems.push(format!(
            "{place} is not a setting; did you mean {suggestion}?"
        ));
    }
}

/// What a name probably stands for: the path of a setting, and an example of its value if that is a
/// table.
fn suggestion(path: &[String], known: &Dict) -> Option<String> {
    let (name, tables) = path.split_last()?;
    if tables.is_empty() {
        if OF_EXTENSIONS.contains(&name.to_lowercase().as_str()) {
            return None;
        }
        if let Some(suggestion) = table_of(name) {
            return Some(suggestion);
        }
    }
    let name = name.split('/').next().unwrap_or(name);
    let similar = similar(name, known.keys())?.to_owned();
    Some([tables, &[similar]].concat().join("."))
}

/// The table that a name such as `tls_certs` begins with, with an example of its value.
fn table_of(name: &str) -> Option<String> {
    let (table, _) = name.split_once(['_', '-'])?;
    let key = keys::find(&table.to_lowercase())?;
    let (_, example) = key.expected.split_once("as in {")?;
    Some(format!("{}={{{example}", key.name))
}

/// The name that a misspelt one probably stands for.
fn similar<'a, T: AsRef<str> + ?Sized + 'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a T>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    let known: Vec<&str> = known.into_iter().map(AsRef::as_ref).collect();
    let distance = |known: &&&str| damerau_levenshtein(&name, known);
    let misspelt = known.iter().filter(|known| is_misspelt(&name, known));
    if let Some(known) = misspelt.min_by_key(distance) {
        return Some(known);
    }
    let parts: Vec<_> = known.iter().filter(|known| is_part(&name, known)).collect();
    // A short word of several settings, such as `dir`, says too little.
    let is_unclear = parts.len() > 1 && name.chars().count() < LONG_WORD;
    parts
        .into_iter()
        .filter(|_| !is_unclear)
        .min_by_key(|known| distance(known))
        .copied()
}

/// The number of characters from which on words with a differing character are similar. `port` and
/// `post` are not, nor are `url` and `ssl`.
const LONG_WORD: usize = 5;

/// Whether a name differs from a known one in few characters: one of five, and two of eight if each
/// word is similar by itself.
fn is_misspelt(name: &str, known: &str) -> bool {
    let words = |name: &str| {
        name.split(['_', '-'])
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (words, known_words) = (words(name), words(known));
    let are_words_similar = words.len() != known_words.len()
        || words
            .iter()
            .zip(&known_words)
            .all(|(word, known)| is_similar_word(word, known, 2));
    match (damerau_levenshtein(name, known), known.chars().count()) {
        (0, _) | (1, LONG_WORD..) => true,
        (1, _) | (2, 8..) => are_words_similar,
        _ => false,
    }
}

/// Whether a name consists of words of the other, such as `tokens` of `api_tokens`.
fn is_part(name: &str, known: &str) -> bool {
    let is_word_of_known = |word: &str| {
        word.len() > 2
            && known
                .split('_')
                .any(|known| is_similar_word(word, known, 1))
    };
    name.split(['_', '-']).all(is_word_of_known)
}

/// Whether two words are the same up to this many characters; if they are short, up to the plural and
/// the order of characters.
fn is_similar_word(word: &str, known: &str, differences: usize) -> bool {
    let is_plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one);
    let sorted = |word: &str| {
        let mut characters: Vec<_> = word.chars().collect();
        characters.sort_unstable();
        characters
    };
    is_plural(word, known)
        || is_plural(known, word)
        || sorted(word) == sorted(known)
        || (word.len().min(known.len()) >= LONG_WORD
            && damerau_levenshtein(word, known) <= differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(name: &str) -> Option<String> {
        suggestion(&[name.to_owned()], &known())
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
            ("database", "database_url"),
            ("database_uri", "database_url"),
            ("tempdir", "temp_dir"),
            ("log_levle", "log_level"),
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
            // Those of other parts of an application.
            "app",
            "databases",
            "database_dir",
            "database_pool",
            "database_port",
            "database_ssl",
            "database_user",
            "date",
            "dir",
            "post",
            "ssl",
        ] {
            assert_eq!(suggested(name), None, "{name}");
        }
    }

    #[test]
    fn name_with_a_table_before_it_suggests_the_table() {
        let tls = "tls={certs=\"chain.pem\",key=\"key.pem\"}";
        for (name, suggestion) in [
            ("tls_certs", tls),
            ("tls_key", tls),
            ("TLS-cert", tls),
            (
                "shutdown_grace",
                "shutdown={grace=2,mercy=3,signals=[\"term\"]}",
            ),
            ("limits_form", "limits={form=\"64 KiB\"}"),
        ] {
            assert_eq!(suggested(name).as_deref(), Some(suggestion), "{name}");
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
