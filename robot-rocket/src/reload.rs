//! Reload of tokens and certificates by SIGHUP, while connections stay open.

use std::{io, net::IpAddr, thread};

use metrics::counter;
use robot_core::http::{Access, AccessToken};
use robot_rocket::Certificates;
use rocket::{
    config::{Config, Sig},
    figment::{Figment, providers::Serialized},
    tokio::{
        runtime::Builder,
        signal::unix::{SignalKind, signal},
    },
};
use tracing::field;

use crate::Failure;

/// What a reload replaces.
pub(crate) struct Reload {
    pub(crate) access: Access,
    pub(crate) certificates: Option<Certificates>,
    /// The address that the server listens on.
    pub(crate) address: IpAddr,
}

impl Reload {
    /// Reloads at each SIGHUP from now on, on a thread of its own; unless that is a signal to shut
    /// down. From now on, SIGHUP does not end the process.
    pub(crate) fn at_signals(self, config: &Config) -> io::Result<()> {
        if config.shutdown.signals.contains(&Sig::Hup) {
            return Ok(());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut hangups = {
            let _entered = runtime.enter();
            signal(SignalKind::hangup())?
        };
        let receive = move || {
            while runtime.block_on(hangups.recv()).is_some() {
                self.run();
            }
        };
        thread::Builder::new()
            .name("reload".to_owned())
            .spawn(receive)
            .map(drop)
    }

    fn run(&self) {
        let result = self.replace();
        let label = if result.is_ok() { "done" } else { "refused" };
        counter!("robots_reloads_total", "result" => label).increment(1);
        if let Err(problem) = result {
            tracing::error!(
                "the reload was refused, and the tokens and certificates stay as they were: {problem}"
            );
        }
    }

    /// Replaces everything, or nothing if there is a problem.
    fn replace(&self) -> Result<(), Failure> {
        let figment = robot_rocket::figment();
        // The address that the server listens on decides what clients may do if the settings do not say.
        let address = Serialized::global("address", self.address);
        let settings = super::read_settings(&figment.clone().merge(address))?;
        let before = self.access.tokens();
        let new = &settings.catalogue.api.access;
        if !before.is_empty() && new.tokens().is_empty() && !figment.contains("allow_anonymous") {
            return Err(
                "no token is left, so that anyone could read and write; keep one, or set \
                 allow_anonymous to true"
                    .into(),
            );
        }
        if let (Some(certificates), Some(setting)) = (&self.certificates, &settings.config.tls) {
            certificates.reload(setting)?;
        }
        self.access.replace(new);
        let now = self.access.tokens();
        tracing::info!(
            tokens_added = labels_without(&now, &before).map(field::display),
            tokens_removed = labels_without(&before, &now).map(field::display),
            "{}; {}",
            if are_of_environment(&figment) {
                "certificates were reloaded, but not the tokens of ROCKET_API_TOKENS, which change only \
                 with a restart"
            } else {
                "tokens and certificates were reloaded"
            },
            self.access
        );
        Ok(())
    }
}

/// Whether the tokens are those of a variable, which cannot change while the process runs.
fn are_of_environment(figment: &Figment) -> bool {
    let metadata = figment.find_metadata("api_tokens");
    metadata.is_some_and(|metadata| metadata.name.contains("environment"))
}

/// The tokens that are not in `others`, with their names and fingerprints; `None` if all are.
fn labels_without(tokens: &[AccessToken], others: &[AccessToken]) -> Option<String> {
    let missing = tokens.iter().filter(|token| !others.contains(token));
    let labels: Vec<_> = missing
        .map(|token| match token.name() {
            Some(name) => format!("{name}:{}", token.fingerprint()),
            None => token.fingerprint(),
        })
        .collect();
    (!labels.is_empty()).then(|| labels.join(","))
}
