//! Options of the command line, and the settings of each test.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use fastrand::Rng;
use libtest_mimic::Arguments;

#[derive(Parser)]
pub(crate) struct Options {
    /// The seed of the whole run
    #[arg(long, default_value_t = fastrand::u64(..1_000_000_000))]
    pub(crate) seed: u64,
    /// Repeat each scenario for this time
    #[arg(long)]
    seconds: Option<u64>,
    /// Repeat each scenario so often
    #[arg(long)]
    rounds: Option<u64>,
    #[command(flatten)]
    pub(crate) harness: Arguments,
}

/// One test, and the options.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) options: Arc<Options>,
}

impl Run {
    /// The command line of another process that runs this test with the same settings.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--exact".to_owned(), self.name.clone()];
        for (option, number) in [
            ("seed", Some(self.options.seed)),
            ("seconds", self.options.seconds),
            ("rounds", self.options.rounds),
        ] {
            arguments.extend(number.map(|number| format!("--{option}={number}")));
        }
        arguments
    }

    /// Repeats a scenario for as long or as often as the options say, by default `rounds` times.
    pub(crate) fn repeat(&self, rounds: u64, mut scenario: impl FnMut(&mut Rng)) {
        // The randomness does not depend on which other tests run.
        let mut hasher = DefaultHasher::new();
        (self.options.seed, &self.name).hash(&mut hasher);
        let mut random = Rng::with_seed(hasher.finish());
        let started = Instant::now();
        let mut round = 0;
        loop {
            round += 1;
            scenario(&mut random.fork());
            let is_enough = match self.options.seconds {
                Some(seconds) => started.elapsed() >= Duration::from_secs(seconds),
                None => round >= self.options.rounds.unwrap_or(rounds),
            };
            if is_enough {
                break;
            }
        }
        println!("{}: {round} rounds in {:.1?}", self.name, started.elapsed());
    }
}
