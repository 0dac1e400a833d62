//! Reload of tokens and certificates by SIGHUP, while connections stay open.

use std::{io, net::IpAddr, sync::Arc};

use metrics::counter;
use robot_core::http::{Access, AccessToken};
use robot_rocket::Certificates;
use rocket::{
    config::{Config, Sig},
    figment::providers::Serialized,
    tokio::{
        self,
        signal::unix::{SignalKind, signal},
        task::spawn_blocking,
    },
};

use crate::AnyError;

/// What a reload replaces.
pub(crate) struct Reload {
    pub(crate) access: Access,
    pub(crate) certificates: Option<Certificates>,
    /// The address that the server listens on.
    pub(crate) address: IpAddr,
}

impl Reload {
    /// Reloads at each SIGHUP from now on, unless that is a signal to shut down. From now on, SIGHUP does
    /// not end the process.
    pub(crate) fn at_signals(self, config: &Config) -> io::Result<()> {
        if !config.shutdown.signals.contains(&Sig::Hup) {
            let mut hangups = signal(SignalKind::hangup())?;
            let reload = Arc::new(self);
            tokio::spawn(async move {
                while hangups.recv().await.is_some() {
                    let reload = Arc::clone(&reload);
                    // It reads files. The next signal reloads again, also after a panic.
                    let _ = spawn_blocking(move || reload.run()).await;
                }
            });
        }
        Ok(())
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
    fn replace(&self) -> Result<(), AnyError> {
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
            tokens_added = ?without(&now, &before),
            tokens_removed = ?without(&before, &now),
            "tokens and certificates were reloaded from files; {}",
            self.access
        );
        Ok(())
    }
}

/// The tokens that are not in `others`.
fn without<'a>(tokens: &'a [AccessToken], others: &[AccessToken]) -> Vec<&'a AccessToken> {
    let missing = tokens.iter().filter(|token| !others.contains(token));
    missing.collect()
}
