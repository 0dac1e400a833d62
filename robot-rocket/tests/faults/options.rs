//! What the command line says of a run, and the randomness of it.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, Instant},
};

use fastrand::Rng;
use libtest_mimic::Arguments;

/// What the command line says, besides what every test knows.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    seconds: Option<u64>,
    rounds: Option<u64>,
}

/// How one test is to be run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    /// The seed of the whole run.
    seed: u64,
    random_seed: u64,
    duration: Option<Duration>,
    rounds: Option<u64>,
}

impl Options {
    /// Reads the command line: ours, and the rest of it.
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
                "--rounds" => options.rounds = Some(number("--rounds")),
                _ => rest.push(argument),
            }
        }
        (options, Arguments::from_iter(rest))
    }

    /// A test of the run. What it decides does not depend on which others run.
    pub(crate) fn run(&self, name: &'static str) -> Run {
        let mut hasher = DefaultHasher::new();
        (self.seed, name).hash(&mut hasher);
        Run {
            name,
            seed: self.seed,
            random_seed: hasher.finish(),
            duration: self.seconds.map(Duration::from_secs),
            rounds: self.rounds,
        }
    }
}

impl Run {
    /// The command line of a process that runs this test as this one would.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--exact".to_owned(), self.name.to_owned()];
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

    /// Repeats a scenario: as often or as long as the command line says, or else so many times.
    pub(crate) fn repeat(&self, rounds: u64, mut scenario: impl FnMut(&mut Rng)) {
        let started = Instant::now();
        let mut random = Rng::with_seed(self.random_seed);
        let mut round = 0;
        loop {
            round += 1;
            scenario(&mut random.fork());
            let is_enough = match (self.duration, self.rounds) {
                (Some(duration), _) => started.elapsed() >= duration,
                (None, Some(rounds)) => round >= rounds,
                (None, None) => round >= rounds,
            };
            if is_enough {
                break;
            }
        }
        println!("{}: {round} rounds in {:.1?}", self.name, started.elapsed());
    }
}
