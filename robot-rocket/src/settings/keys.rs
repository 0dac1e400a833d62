//! The names of all settings, and what their values must be.

/// A setting.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// What the value must be, as the end of a sentence.
    pub(super) expected: &'static str,
    /// Whether no message may show the value.
    pub(super) is_secret: bool,
}

const fn key(name: &'static str, expected: &'static str) -> Key {
    Key {
        name,
        expected,
        is_secret: false,
    }
}

const fn secret(name: &'static str, expected: &'static str) -> Key {
    Key {
        name,
        expected,
        is_secret: true,
    }
}

/// The settings of the catalogue, and those of Rocket.
pub(super) const ALL: [Key; 33] = [
    key("allow_anonymous", "true, false or read"),
    key("allowed_hosts", "names, as in robots.example,robots"),
    key("allowed_origins", "origins, as in https://app.example"),
    secret("api_tokens", "entries that 'robot-cli token new' prints"),
    key("api_tokens_file", "the path of a file"),
    key("behaviour", "A or B"),
    key("database_connections", "a number, 1 or more"),
    key("database_timeout", "a whole number of seconds, 1 or more"),
    secret("database_url", "a URL, as in sqlite://robots.db"),
    key("header_timeout", "a whole number of seconds, 1 or more"),
    key(
        "import_minimum_rate",
        "a number of bytes per second; 0 means none",
    ),
    key("import_timeout", "a whole number of seconds, 1 or more"),
    key("log_format", "text or json"),
    key("max_connections", "a number, 1 or more"),
    key("max_connections_per_address", "a number, 1 or more"),
    key(
        "metrics_address",
        "an address with a port, as in 127.0.0.1:9100",
    ),
    key("slow_statement", "a whole number of milliseconds"),
    key("static_dir", "the path of a folder"),
    key("write_timeout", "a whole number of seconds, 1 or more"),
    // Rocket's.
    key("address", "an IP address, such as 127.0.0.1 or 0.0.0.0"),
    key("cli_colors", "true or false"),
    key("ident", "a text for the header Server, or false"),
    key("ip_header", "the name of a header, or false"),
    key("keep_alive", "a whole number of seconds; 0 means none"),
    key("limits", "sizes, as in {form=\"64 KiB\"}"),
    key("log_level", "off, critical, normal or debug"),
    key("max_blocking", "a number, 1 or more"),
    key("port", "a number from 0 to 65535"),
    secret("secret_key", "a key of 256 bits in base64"),
    key("shutdown", "as in {grace=2,mercy=3,signals=[\"term\"]}"),
    key("temp_dir", "the path of a folder"),
    secret("tls", "as in {certs=\"chain.pem\",key=\"key.pem\"}"),
    key("workers", "a number, 1 or more"),
];

/// The setting with this name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    ALL.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use rocket::Config;

    use super::*;

    #[test]
    fn keys_include_all_parameters_of_rocket() {
        for parameter in Config::PARAMETERS {
            assert!(find(parameter).is_some(), "{parameter}");
        }
    }
}
