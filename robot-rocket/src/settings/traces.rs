//! The collector of traces, from the standard environment variables of OpenTelemetry.

use std::env;

#[cfg(feature = "server")]
use super::reader::Reader;

/// Reports the collector without secrets, and the variable that names it. If traces cannot be exported, there is a
/// warning, and the server runs without them: platforms set these variables for all programs alike.
#[cfg(feature = "server")]
pub(super) fn report(reader: &mut Reader<'_>) {
    #[cfg(feature = "otlp")]
    let collector = collector().map(|collector| collector.map(|collector| collector.name));
    #[cfg(not(feature = "otlp"))]
    let collector = requested().map_or(Ok(None), |(name, _)| {
        Err(format!(
            "{name} is set, but this server was built without the feature otlp; build it with \
             '--features otlp', or remove the variable"
        ))
    });
    let value = collector.unwrap_or_else(|problem| {
        reader.warning(format!("requests are not traced: {problem}"));
        None::<String>
    });
    let value = value.unwrap_or_else(|| "none".to_owned());
    let origin = requested().map_or_else(|| "default".to_owned(), |(name, _)| name);
    reader.rows.push(["traces".to_owned(), value, origin]);
}

/// The variable with the address of the collector, and its value, if the export is not disabled.
fn requested() -> Option<(String, String)> {
    let is_disabled = value("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let is_other = value("OTEL_TRACES_EXPORTER").is_some_and(|it| it != "otlp");
    exporter("ENDPOINT").filter(|_| !is_disabled && !is_other)
}

/// The name and the value of a variable of the exporter. One for traces takes precedence.
fn exporter(name: &str) -> Option<(String, String)> {
    let prefixes = ["OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"];
    let mut names = prefixes.into_iter().map(|prefix| format!("{prefix}{name}"));
    names.find_map(|name| value(&name).map(|value| (name, value)))
}

/// The value of a variable. An empty one counts as not set, as OpenTelemetry requires.
fn value(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(feature = "otlp")]
pub(crate) use collector::{Collector, collector};

#[cfg(feature = "otlp")]
mod collector {
    use std::{sync::Arc, time::Duration};

    use hyper::Uri;
    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject},
    };

    use super::{exporter, requested};

    /// The default that OpenTelemetry specifies, in milliseconds.
    const DEFAULT_TIMEOUT: u64 = 10_000;

    /// The certificate authorities that the system trusts: the file of Debian and others.
    const SYSTEM_AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

    /// The collector that receives the traces.
    pub(crate) struct Collector {
        pub(crate) endpoint: Uri,
        /// The address without path and query, which may have secrets.
        pub(crate) name: String,
        pub(crate) timeout: Duration,
        pub(crate) tls: ClientConfig,
    }

    /// The collector of the environment; `None` if no traces are requested. The error is a message
    /// without values, which may have secrets.
    pub(crate) fn collector() -> Result<Option<Collector>, String> {
        let Some((variable, address)) = requested() else {
            return Ok(None);
        };
        if let Some((name, protocol)) = exporter("PROTOCOL")
            && protocol != "http/protobuf"
        {
            return Err(format!(
                "this server supports only http/protobuf, not the protocol of {name}; set it to \
                 http/protobuf, and the address to a port for OTLP over HTTP, which usually is 4318"
            ));
        }
        let (endpoint, name) = endpoint(&variable, &address).ok_or_else(|| {
            format!(
                "{variable} must be a URL without a user name, as in http://127.0.0.1:4318; \
                 passwords and keys belong in OTEL_EXPORTER_OTLP_HEADERS"
            )
        })?;
        let timeout = exporter("TIMEOUT").and_then(|(_, text)| text.parse().ok());
        Ok(Some(Collector {
            timeout: Duration::from_millis(timeout.unwrap_or(DEFAULT_TIMEOUT)),
            tls: client_config(endpoint.scheme_str() == Some("https"))?,
            endpoint,
            name,
        }))
    }

    /// The address that traces are sent to, and without path and query.
    fn endpoint(variable: &str, address: &str) -> Option<(Uri, String)> {
        let endpoint: Uri = if variable.contains("TRACES") {
            address.parse().ok()?
        } else {
            let address = address.trim_end_matches('/');
            format!("{address}/v1/traces").parse().ok()?
        };
        let (scheme, authority) = (endpoint.scheme_str()?, endpoint.authority()?.as_str());
        let is_valid = matches!(scheme, "http" | "https") && !authority.contains('@');
        let name = format!("{scheme}://{authority}");
        is_valid.then_some((endpoint, name))
    }

    /// TLS with the authorities of the environment, or of the system, if it is needed.
    fn client_config(is_https: bool) -> Result<ClientConfig, String> {
        let mut roots = RootCertStore::empty();
        if is_https {
            let (origin, path) = exporter("CERTIFICATE").unwrap_or((
                "the default of OTEL_EXPORTER_OTLP_CERTIFICATE".to_owned(),
                SYSTEM_AUTHORITIES.to_owned(),
            ));
            let certificates: Result<Vec<_>, _> =
                CertificateDer::pem_file_iter(&path).and_then(Iterator::collect);
            roots.add_parsable_certificates(certificates.map_err(|error| {
                format!(
                    "the certificate file '{path}' ({origin}) cannot be read: {error}; set \
                     OTEL_EXPORTER_OTLP_CERTIFICATE to a file in PEM format"
                )
            })?);
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn endpoint_for_all_telemetry_gets_the_path_of_traces() {
            let (all, traces) = (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            );
            for (variable, address, expected) in [
                (all, "http://a:4318", Some("http://a:4318/v1/traces")),
                (all, "https://a/x/", Some("https://a/x/v1/traces")),
                (traces, "http://a:4318/x", Some("http://a:4318/x")),
                (traces, "http://a:4318", Some("http://a:4318/")),
                (all, "http://user:secret@a:4318", None),
                (all, "a:4318", None),
                (all, "grpc://a:4317", None),
                (all, "http://", None),
            ] {
                let endpoint = endpoint(variable, address).map(|(uri, _)| uri.to_string());
                assert_eq!(endpoint.as_deref(), expected, "{address}");
            }
        }
    }
}
