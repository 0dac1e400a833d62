//! Names of metrics: the dashboard, the alerts and the documents have only those that a server exports.

use std::collections::BTreeSet;

use crate::{
    TLS,
    certificates::certify,
    process::wait_for,
    scrape::{Scrape, server, server_in},
};

const DASHBOARD: &str = include_str!("../../deploy/grafana-dashboard.json");
const ALERTS: &str = include_str!("../../deploy/prometheus-alerts.yml");
const MONITOR: &str = include_str!("../../docs/operations/monitor.md");
const RECOVER: &str = include_str!("../../docs/operations/recover.md");

/// The names of metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_:".contains(character);
    let words = text.split(|character| !is_part(character));
    let is_metric = |word: &&str| word.starts_with("robots_") || word.starts_with("process_");
    words.filter(is_metric).collect()
}

/// The names of all metrics that a server exports, with HTTPS and without.
fn exported() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let (_https, address) = server_in(folder.path(), &[("DATABASE_URL", "memory:"), TLS]);
    let https = Scrape::of(address);
    let (server, address) = server(&[]);
    assert_eq!(server.get("/livez").status, 200);
    // Threads of the server and of the store record these.
    let recorded = [
        "robots_http_requests_total",
        "robots_store_commits_total",
        "robots_sqlite_commit_start_time_seconds",
    ];
    wait_for("the first values are recorded", || {
        let scrape = Scrape::of(address);
        let names = scrape.names();
        recorded.iter().all(|name| names.contains(name))
    });
    let scrape = Scrape::of(address);
    let names = scrape.names().into_iter().chain(https.names());
    names.map(str::to_owned).collect()
}

/// The name without the suffix of a part of a histogram.
fn without_suffix<'a>(name: &'a str, exported: &BTreeSet<String>) -> &'a str {
    let parts = ["_bucket", "_sum", "_count"].into_iter();
    let mut histograms = parts.filter_map(|part| name.strip_suffix(part));
    histograms
        .find(|name| exported.contains(*name))
        .unwrap_or(name)
}

#[test]
fn dashboard_and_alerts_use_exported_metrics() {
    let exported = exported();
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{}", panel["id"]);
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array();
        assert!(panel["type"] == "row" || targets.is_some_and(|targets| !targets.is_empty()));
        for target in targets.into_iter().flatten() {
            let used = metrics_in(target["expr"].as_str().unwrap());
            assert!(!used.is_empty(), "{title}");
            for name in used {
                assert!(
                    exported.contains(without_suffix(name, &exported)),
                    "{title}: {name}"
                );
            }
        }
    }
    let used = metrics_in(ALERTS);
    assert!(used.len() >= 5, "{used:?}");
    for name in used {
        assert!(exported.contains(without_suffix(name, &exported)), "{name}");
    }
    for key in ["alert:", "expr:", "summary:", "action:"] {
        assert_eq!(ALERTS.matches(key).count(), 11, "{key}");
    }
}

#[test]
fn documented_metrics_are_the_exported_ones() {
    let (_, section) = MONITOR.split_once("\n## Metrics\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: BTreeSet<_> = rows
        .filter_map(|row| Some(row.split_once('`')?.0.to_owned()))
        .collect();
    let exported = exported();
    assert_eq!(documented, exported);
    for name in metrics_in(RECOVER) {
        assert!(exported.contains(without_suffix(name, &exported)), "{name}");
    }
}
