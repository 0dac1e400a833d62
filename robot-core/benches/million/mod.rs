//! Catalogues of a million robots, or as many as the first argument says: those of the URLs in the other
//! arguments, or a new SQLite file. An empty catalogue is filled, which takes 20 seconds per million robots.

use std::{env, fmt::Write as _, sync::Arc, time::Duration};

use robot_core::{Catalogue, Draft, Field, Restoration, Robot, RobotId, ValidDraft};
use tempfile::TempDir;

const WORDS: [&str; 20] = [
    "astro", "atlas", "comet", "delta", "droid", "laser", "lunar", "meteor", "nova", "omega",
    "orion", "probe", "rover", "scout", "sigma", "solar", "titan", "turbo", "vega", "zephyr",
];

/// Robots per transaction while a catalogue is filled.
const BATCH: usize = 50_000;

/// A catalogue to measure.
pub(crate) struct Subject {
    pub(crate) url: String,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    /// The folder of a new file.
    _folder: Option<TempDir>,
}

/// The catalogues that the arguments name.
pub(crate) fn subjects() -> impl Iterator<Item = Subject> {
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    let robots = arguments
        .next()
        .map_or(1_000_000, |number| number.parse().unwrap());
    let urls: Vec<_> = arguments.map(|url| (url, None)).collect();
    let new_file = urls.is_empty().then(|| {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        (url, Some(folder))
    });
    urls.into_iter().chain(new_file).map(move |(url, folder)| {
        let catalogue = robot_core::open(&url).unwrap();
        if catalogue.last_id().unwrap().is_none() {
            fill(catalogue.as_ref(), robots);
        }
        Subject {
            url,
            catalogue,
            _folder: folder,
        }
    })
}

/// Adds robots whose numbers are not in the order of their ids, of all types and of a hundred years.
fn fill(catalogue: &dyn Catalogue, robots: usize) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut numbers: Vec<usize> = (0..robots).collect();
    random.shuffle(&mut numbers);
    let mut ids = (1..).map(|id| RobotId::new(id).unwrap());
    for numbers in numbers.chunks(BATCH) {
        let robots = numbers.iter().map(|number| {
            let mut name = String::new();
            for _ in 0..2 {
                write!(name, "{}-", random.choice(WORDS).unwrap()).unwrap();
            }
            write!(name, "r{number:07}").unwrap();
            let robot_type = random.choice(Field::TYPE.choices()).unwrap();
            let draft = Draft::new(name, &**robot_type, random.i64(1920..2020));
            ValidDraft::new(draft).unwrap().with_id(ids.next().unwrap())
        });
        let robots: Vec<Robot> = robots.collect();
        let last = robots.last().map(Robot::id);
        catalogue
            .restore(&Restoration::new(robots, last).unwrap())
            .unwrap();
    }
}

/// In milliseconds.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
