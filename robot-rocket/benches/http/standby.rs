//! Private PostgreSQL server whose commits wait for a standby behind a relay.

use std::{
    path::{Path, PathBuf},
    process::{self, Command},
    time::Duration,
};

use crate::relay;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../robot-core/tests/servers.sh"
);

/// A primary and its synchronous standby, which are stopped on drop.
pub(crate) struct Pair {
    folder: PathBuf,
    /// URL of the primary.
    pub(crate) url: String,
}

impl Pair {
    pub(crate) fn start(folder: &Path, round_trip: Duration) -> Result<Self, String> {
        let mut pair = Self {
            folder: folder.to_owned(),
            url: String::new(),
        };
        pair.url = pair.run(&["start", "postgres", "primary"])?;
        let authority = pair.url.split(['@', '/']).nth(3).unwrap_or_default();
        let address = authority
            .parse()
            .map_err(|error| format!("{}: {error}", pair.url))?;
        let relay = relay::start(address, round_trip).map_err(|error| error.to_string())?;
        pair.run(&["standby", "primary", "standby", &relay.port().to_string()])?;
        Ok(pair)
    }

    /// Runs the script with paths relative to the folder, and returns the line that it prints.
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(SCRIPT);
        command.args(arguments).current_dir(&self.folder);
        command.env("SERVERS_OWNER", process::id().to_string());
        let output = command
            .output()
            .map_err(|error| format!("{SCRIPT}: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // If this fails, they stop when the process ends.
        let _ = self.run(&["stop", "."]);
    }
}
