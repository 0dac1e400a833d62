//! Benchmark of each operation in each store, with 10,000 robots: `cargo bench -p robot-core`.
//!
//! The stores on database servers need the URLs of servers in `TEST_POSTGRES_URL` and
//! `TEST_MYSQL_URL`.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use robot_core::conformance::scratch_database;
use robot_core::{Catalogue, CatalogueExt, Cursor, Draft, Filter, PageRequest, RobotId, http::Api};
use tempfile::TempDir;

const ROBOTS: usize = 10_000;

fn draft(number: usize) -> Draft {
    Draft::new(format!("RX-{number:08}"), "mechanical", 1942)
}

/// A catalogue, and the ids of its robots in the order of their names.
struct Subject {
    name: &'static str,
    catalogue: Arc<dyn Catalogue>,
    ids: Vec<RobotId>,
    _folder: TempDir,
}

impl Subject {
    fn new(name: &'static str, url: impl FnOnce(&TempDir) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = robot_core::open(&url(&folder)).unwrap();
        let ids = (0..ROBOTS).map(|number| catalogue.add(draft(number)).unwrap().id());
        Self {
            name,
            ids: ids.collect(),
            catalogue,
            _folder: folder,
        }
    }
}

fn subjects() -> Vec<Subject> {
    vec![
        Subject::new("memory", |_| "memory:".to_owned()),
        #[cfg(feature = "sqlite")]
        Subject::new("sqlite", |folder| {
            format!("sqlite://{}/robots.db", folder.path().display())
        }),
        #[cfg(feature = "postgres")]
        Subject::new("postgres", |_| scratch_database("TEST_POSTGRES_URL")),
        #[cfg(feature = "mysql")]
        Subject::new("mysql", |_| scratch_database("TEST_MYSQL_URL")),
    ]
}

fn page<'a>(filter: &'a Filter, cursor: &'a Cursor) -> PageRequest<'a> {
    PageRequest {
        limit: 1000,
        ..PageRequest::new(filter, cursor)
    }
}

fn stores(criterion: &mut Criterion) {
    for subject in subjects() {
        let catalogue = subject.catalogue.as_ref();
        let mut group = criterion.benchmark_group(subject.name);

        let (all, text) = (Filter::all(), Filter::from("0432"));
        let (start, after) = (Cursor::default(), Cursor::after_name("RX-00004"));

        let mut ids = subject.ids.iter().copied().cycle();
        group.bench_function("get", |bencher| {
            bencher.iter(|| catalogue.get(black_box(ids.next().unwrap())).unwrap());
        });
        group.bench_function("find", |bencher| {
            bencher.iter(|| catalogue.find(black_box("RX-00004321")).unwrap());
        });
        group.throughput(Throughput::Elements(1000));
        group.bench_function("page of 1000", |bencher| {
            bencher.iter(|| catalogue.page(black_box(page(&all, &after))).unwrap());
        });
        let api = Api::new(Arc::clone(&subject.catalogue));
        group.bench_function("list of 1000 as JSON", |bencher| {
            let path = "/api/robots?limit=1000";
            bencher.iter(|| api.handle(http::Request::get(black_box(path)).body("").unwrap()));
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function("search for 10 of 10000", |bencher| {
            bencher.iter(|| catalogue.page(black_box(page(&text, &start))).unwrap());
        });

        let mut numbers = ROBOTS..;
        group.bench_function("add", |bencher| {
            bencher.iter(|| {
                let draft = draft(numbers.next().unwrap());
                catalogue.add(draft).unwrap();
            });
        });
        group.bench_function("replace", |bencher| {
            bencher.iter(|| {
                let id = ids.next().unwrap();
                catalogue
                    .replace(id, draft(numbers.next().unwrap()))
                    .unwrap();
            });
        });
        group.bench_function("add and delete", |bencher| {
            bencher.iter(|| {
                let robot = catalogue.add(draft(numbers.next().unwrap())).unwrap();
                catalogue.delete(robot.id()).unwrap();
            });
        });
        group.finish();
    }
}

criterion_group!(benches, stores);
criterion_main!(benches);
