//! The names of all settings, and what their values must be.

/// The settings whose values no message may show.
pub(super) const SECRETS: [&str; 4] = ["api_tokens", "database_url", "secret_key", "tls"];

/// The settings of the catalogue, and those of Rocket: their names, and what their values must be, as the end
/// of a sentence.
pub(super) const ALL: [(&str, &str); 33] = [
    ("allow_anonymous", "true, false or read"),
    ("allowed_hosts", "names, as in robots.example,robots"),
    ("allowed_origins", "origins, as in https://app.example"),
    ("api_tokens", "entries that 'robot-cli token new' prints"),
    ("api_tokens_file", "the path of a file"),
    ("behaviour", "A or B"),
    ("database_connections", "a number, 1 or more"),
    ("database_timeout", "a whole number of seconds, 1 or more"),
    ("database_url", "a URL, as in sqlite://robots.db"),
    ("header_timeout", "a whole number of seconds, 1 or more"),
    (
        "import_minimum_rate",
        "a number of bytes per second; 0 means none",
    ),
    ("import_timeout", "a whole number of seconds, 1 or more"),
    ("log_format", "text or json"),
    ("max_connections", "a number, 1 or more"),
    ("max_connections_per_address", "a number, 1 or more"),
    (
        "metrics_address",
        "an address with a port, as in 127.0.0.1:9100",
    ),
    ("slow_statement", "a whole number of milliseconds"),
    ("static_dir", "the path of a folder"),
    ("write_timeout", "a whole number of seconds, 1 or more"),
    // Rocket's.
    ("address", "an IP address, such as 127.0.0.1 or 0.0.0.0"),
    ("cli_colors", "true or false"),
    ("ident", "a text for the header Server, or false"),
    ("ip_header", "the name of a header, or false"),
    ("keep_alive", "a whole number of seconds; 0 means none"),
    ("limits", "sizes, as in {form=\"64 KiB\"}"),
    ("log_level", "off, critical, normal or debug"),
    ("max_blocking", "a number, 1 or more"),
    ("port", "a number from 0 to 65535"),
    ("secret_key", "a key of 256 bits in base64"),
    ("shutdown", "as in {grace=2,mercy=3,signals=[\"term\"]}"),
    ("temp_dir", "the path of a folder"),
    ("tls", "as in {certs=\"chain.pem\",key=\"key.pem\"}"),
    ("workers", "a number, 1 or more"),
];

/// What the value of a setting must be; `None` if there is no such setting.
pub(super) fn expected(name: &str) -> Option<&'static str> {
    let mut keys = ALL.iter();
    keys.find_map(|(key, expected)| (*key == name).then_some(*expected))
}

/// The members of a setting that is a table; `None` if it is none.
#[cfg(feature = "server")]
pub(super) fn members(name: &str) -> Option<Vec<&'static str>> {
    let members = match name {
        "limits" => "bytes data-form file form json msgpack string",
        "shutdown" => "ctrlc force grace mercy signals",
        "tls" => "certs ciphers key mutual prefer_server_cipher_order",
        _ => return None,
    };
    Some(members.split(' ').collect())
}

#[cfg(test)]
mod tests {
    use rocket::Config;

    use super::*;

    #[test]
    fn keys_include_all_parameters_of_rocket() {
        for parameter in Config::PARAMETERS {
            assert!(expected(parameter).is_some(), "{parameter}");
        }
    }
}
