//! The collector of traces, from the standard environment variables of OpenTelemetry.

use std::env;

/// The variables with the address of the collector. The first one that is set has effect, here and below.
const ENDPOINT: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// A message if traces are requested, but cannot be exported. The server runs without them then:
/// platforms set these variables for all programs alike.
#[cfg(feature = "server")]
pub(super) fn warning() -> Option<String> {
    #[cfg(feature = "otlp")]
    let problem = collector().err();
    #[cfg(not(feature = "otlp"))]
    let problem = requested().map(|(name, _)| {
        format!(
            "{name} is set, but this server was built without the feature otlp; build it with \
             '--features otlp', or remove the variable"
        )
    });
    problem.map(|problem| format!("requests are not traced: {problem}"))
}

/// The collector without secrets, or `none` if the traces cannot be exported, and the variable that names
/// it; `None` if no traces are requested.
#[cfg(feature = "server")]
pub(super) fn shown_collector() -> Option<(String, &'static str)> {
    let (name, _) = requested()?;
    #[cfg(feature = "otlp")]
    if let Ok(Some(collector)) = collector() {
        return Some((collector.to_string(), name));
    }
    Some(("none".to_owned(), name))
}

/// The variable with the address of the collector, and its value, if the export is not disabled.
fn requested() -> Option<(&'static str, String)> {
    let is_disabled = value("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let is_other = value("OTEL_TRACES_EXPORTER").is_some_and(|it| it != "otlp");
    first(ENDPOINT).filter(|_| !is_disabled && !is_other)
}

/// The value of the first of the variables that is set, and its name.
fn first(names: [&'static str; 2]) -> Option<(&'static str, String)> {
    let mut set = names
        .into_iter()
        .filter_map(|name| Some((name, value(name)?)));
    set.next()
}

/// The value of a variable. An empty one counts as not set, as OpenTelemetry requires.
fn value(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(feature = "otlp")]
pub(crate) use collector::{Collector, collector};

#[cfg(feature = "otlp")]
mod collector {
    use std::{fmt, sync::Arc, time::Duration};

    use hyper::Uri;
    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject},
    };

    use super::{ENDPOINT, first, requested};

    /// The path of traces below an address for all kinds of telemetry.
    const PATH: &str = "/v1/traces";

    const PROTOCOL: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    const TIMEOUT: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ];
    const CERTIFICATE: [&str; 2] = [
        "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
    ];

    /// The default that OpenTelemetry specifies.
    const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    /// The certificate authorities that the system trusts: the file of Debian and others.
    const SYSTEM_AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

    /// The collector that receives the traces.
    pub(crate) struct Collector {
        pub(crate) endpoint: Uri,
        pub(crate) timeout: Duration,
        /// For an address with `https`.
        pub(crate) tls: Option<Arc<ClientConfig>>,
    }

    /// Shows no path and no query, which may have secrets.
    impl fmt::Display for Collector {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            let scheme = self.endpoint.scheme_str().unwrap_or_default();
            let authority = self.endpoint.authority();
            let authority = authority.map_or("", |authority| authority.as_str());
            write!(formatter, "{scheme}://{authority}")
        }
    }

    /// The collector of the environment; `None` if no traces are requested. The error is a message
    /// without values, which may have secrets.
    pub(crate) fn collector() -> Result<Option<Collector>, String> {
        let Some((name, address)) = requested() else {
            return Ok(None);
        };
        if let Some((name, protocol)) = first(PROTOCOL)
            && protocol != "http/protobuf"
        {
            return Err(format!(
                "this server supports only http/protobuf, not the protocol of {name}; set it to \
                 http/protobuf, and the address to a port for OTLP over HTTP, which usually is 4318"
            ));
        }
        let endpoint = endpoint(name, &address).ok_or_else(|| {
            format!(
                "{name} must be a URL without a user name, as in http://127.0.0.1:4318; passwords \
                 and keys belong in OTEL_EXPORTER_OTLP_HEADERS"
            )
        })?;
        let is_https = endpoint.scheme_str() == Some("https");
        let milliseconds = first(TIMEOUT).and_then(|(_, text)| text.parse().ok());
        Ok(Some(Collector {
            endpoint,
            timeout: milliseconds.map_or(DEFAULT_TIMEOUT, Duration::from_millis),
            tls: is_https.then(client_config).transpose()?,
        }))
    }

    /// The address that traces are sent to.
    fn endpoint(name: &str, address: &str) -> Option<Uri> {
        let endpoint: Uri = if name == ENDPOINT[0] {
            address.parse().ok()?
        } else {
            format!("{}{PATH}", address.trim_end_matches('/'))
                .parse()
                .ok()?
        };
        let is_http = matches!(endpoint.scheme_str(), Some("http" | "https"));
        let has_user = endpoint.authority()?.as_str().contains('@');
        (is_http && !has_user).then_some(endpoint)
    }

    /// TLS with the authorities of the environment, or of the system.
    fn client_config() -> Result<Arc<ClientConfig>, String> {
        let (origin, path) = first(CERTIFICATE).unwrap_or((
            "the default of OTEL_EXPORTER_OTLP_CERTIFICATE",
            SYSTEM_AUTHORITIES.to_owned(),
        ));
        let certificates: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(&path).and_then(Iterator::collect);
        let certificates = certificates.map_err(|error| {
            format!(
                "the certificate file '{path}' ({origin}) cannot be read: {error}; set \
                 OTEL_EXPORTER_OTLP_CERTIFICATE to a file in PEM format"
            )
        })?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Arc::new(config))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn endpoint_for_all_telemetry_gets_the_path_of_traces() {
            for (name, address, expected) in [
                (
                    ENDPOINT[1],
                    "http://a:4318",
                    Some("http://a:4318/v1/traces"),
                ),
                (ENDPOINT[1], "https://a/x/", Some("https://a/x/v1/traces")),
                (ENDPOINT[0], "http://a:4318/x", Some("http://a:4318/x")),
                (ENDPOINT[0], "http://a:4318", Some("http://a:4318/")),
                (ENDPOINT[1], "http://user:secret@a:4318", None),
                (ENDPOINT[1], "a:4318", None),
                (ENDPOINT[1], "grpc://a:4317", None),
                (ENDPOINT[1], "http://", None),
            ] {
                let endpoint = endpoint(name, address).map(|endpoint| endpoint.to_string());
                assert_eq!(endpoint.as_deref(), expected, "{address}");
            }
        }
    }
}
