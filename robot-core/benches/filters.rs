//! Benchmark of first pages with filters, searches and orders, and of counts and summaries, without HTTP:
//! `cargo bench -p robot-core --features postgres --bench filters -- ROBOTS [URL...]`.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod million;

use std::{sync::Arc, time::Instant};

use million::median;
use robot_core::http::Api;

/// Requests for a page of 50 robots.
const PAGES: [&str; 29] = [
    "?limit=50",
    "?limit=50&sort=-name",
    "?limit=50&sort=year",
    "?limit=50&sort=-year",
    "?limit=50&sort=id",
    "?limit=50&sort=-id",
    "?limit=50&name=astro-titan-r0012345",
    "?limit=50&type=droid",
    "?limit=50&type=droid&sort=-year",
    "?limit=50&type=droid&sort=-id",
    "?limit=50&year=1977",
    "?limit=50&year=1977&sort=-id",
    "?limit=50&year=1950&fields=id,name,type,year",
    "?limit=50&type=droid&year=1977",
    "?limit=50&type=droid&year=1977&fields=id,name,type,year",
    "?limit=50&type=droid&year=1977&sort=-id",
    "?limit=50&type=droid&type=virtual&year=1977",
    "?limit=50&type=droid&year_from=1975&year_to=1977&sort=-name",
    "?limit=50&year_from=1960&year_to=1989",
    "?limit=50&year_from=2015&sort=-id",
    "?limit=50&year=1800",
    "/search/-r0012345?limit=50",
    "/search/vega-titan-r0?limit=50",
    "/search/titan?limit=50",
    "/search/xyzzy?limit=50",
    "/search/9z?limit=50",
    "/search/titan?limit=50&sort=year",
    "/search/TITAN-R001234?limit=50&fold=true",
    "/search/TITAN?limit=50&fold=true&sort=-year",
];

/// Requests that read every robot that meets the filter.
const TOTALS: [&str; 3] = [
    "/summary",
    "/summary?type=droid",
    "?limit=1&count=true&type=droid&year_from=1975&year_to=1977",
];

const ROUNDS: usize = 21;

fn main() {
    for subject in million::subjects() {
        println!("{}", subject.url);
        println!("  median       max  request of /api/robots, in ms");
        let api = Api::new(Arc::clone(&subject.catalogue));
        for query in PAGES.iter().chain(&TOTALS) {
            let path = format!("/api/robots{query}");
            let times = (0..ROUNDS).map(|_| {
                let started = Instant::now();
                let response = api.handle(http::Request::get(&path).body("").unwrap());
                assert_eq!(response.status(), 200, "{path}");
                response.into_body().into_bytes().unwrap();
                started.elapsed()
            });
            let times: Vec<_> = times.collect();
            let max = times.iter().max().unwrap().as_secs_f64() * 1000.0;
            println!("{:8.2}  {max:8.2}  {query}", median(times));
        }
    }
}
