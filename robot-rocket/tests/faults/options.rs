//! Command line options of the fault tests, and the seed of their randomness.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, Instant},
};

use fastrand::Rng;
use libtest_mimic::Arguments;

/// Options besides those of the test harness.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    seconds: Option<u64>,
    rounds: Option<u64>,
    increments: Option<u64>,
}

/// The settings of one test.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: String,
    /// The seed of the whole run.
    seed: u64,
    random_seed: u64,
    duration: Option<Duration>,
    rounds: Option<u64>,
    increments: Option<u64>,
}

impl Options {
    /// Parses the command line: our options, and those of the test harness.
    pub(crate) fn from_command_line() -> (Self, Arguments) {
        let mut options = Self {
            seed: fastrand::u64(..1_000_000_000),
            ..Self::default()
        };
        let mut rest = Vec::new();
        let mut arguments = std::env::args();
        while let Some(argument) = arguments.next() {
            let mut number = |name: &str| -> u64 {
                let value = arguments.next().unwrap_or_default();
                value
                    .parse()
                    .unwrap_or_else(|_| panic!("{name} takes a number, not '{value}'"))
            };
            match argument.as_str() {
                "--seed" => options.seed = number("--seed"),
                "--seconds" => options.seconds = Some(number("--seconds")),
                "--increments" => options.increments = Some(number("--increments")),
                "--rounds" => options.rounds = Some(number("--rounds")),
                _ => rest.push(argument),
            }
        }
        (options, Arguments::from_iter(rest))
    }

    /// The settings of a test. Its randomness does not depend on which other tests run.
    pub(crate) fn run(&self, name: &str) -> Run {
        let mut hasher = DefaultHasher::new();
        (self.seed, name).hash(&mut hasher);
        Run {
            name: name.to_owned(),
            seed: self.seed,
            random_seed: hasher.finish(),
            duration: self.seconds.map(Duration::from_secs),
            rounds: self.rounds,
            increments: self.increments,
        }
    }
}

impl Run {
    /// The command line of another process that runs this test with the same settings.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--exact".to_owned(), self.name.clone()];
        let seconds = self.duration.map(|duration| duration.as_secs());
        for (option, number) in [
            ("--seed", Some(self.seed)),
            ("--seconds", seconds),
            ("--rounds", self.rounds),
        ] {
            arguments.extend(
                number
                    .into_iter()
                    .flat_map(|number| [option.to_owned(), number.to_string()]),
            );
        }
        arguments
    }

    /// The number of increments of `increments::no_increment_is_lost`.
    pub(crate) fn increments(&self, default: u64) -> u64 {
        self.increments.unwrap_or(default)
    }

    /// Repeats a scenario for as long or as often as the options say, by default `rounds` times.
    pub(crate) fn repeat(&self, rounds: u64, mut scenario: impl FnMut(&mut Rng)) {
        let started = Instant::now();
        let mut random = Rng::with_seed(self.random_seed);
        let mut round = 0;
        loop {
            round += 1;
            scenario(&mut random.fork());
            let is_enough = match self.duration {
                Some(duration) => started.elapsed() >= duration,
                None => round >= self.rounds.unwrap_or(rounds),
            };
            if is_enough {
                break;
            }
        }
        println!("{}: {round} rounds in {:.1?}", self.name, started.elapsed());
    }
}
