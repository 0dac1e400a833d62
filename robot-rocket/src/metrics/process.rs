//! Metrics of the process, with the names that exporters of Prometheus have in common.

#[cfg(target_os = "linux")]
pub(super) use linux::render;

/// Other systems have no `/proc`.
#[cfg(not(target_os = "linux"))]
pub(super) fn render() -> String {
    String::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        fmt::{Display, Write},
        fs,
    };

    use rustix::{
        param::{clock_ticks_per_second, page_size},
        process::{Resource, getrlimit},
    };

    /// The metrics as text. Those that cannot be read are missing.
    pub(in super::super) fn render() -> String {
        let mut text = String::new();
        if let Ok(stat) = fs::read_to_string("/proc/self/stat") {
            render_stat(&stat, &mut text);
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // One of them reads the folder.
            let count = files.count().saturating_sub(1);
            metric(&mut text, "open_fds", "gauge", "Open files", count);
        }
        if let Some(limit) = getrlimit(Resource::Nofile).current {
            let description = "Files that may be open";
            metric(&mut text, "max_fds", "gauge", description, limit);
        }
        text
    }

    /// Renders the fields after the name of the program, which may have blanks: see proc(5).
    fn render_stat(stat: &str, text: &mut String) {
        let (_, fields) = stat.rsplit_once(") ").unwrap_or_default();
        let fields: Vec<&str> = fields.split(' ').collect();
        // The first field here is the third of proc(5).
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        if let (Some(user), Some(system)) = (field(14), field(15)) {
            let ticks = clock_ticks_per_second().max(1);
            let (seconds, rest) = ((user + system) / ticks, (user + system) % ticks);
            let value = format!("{seconds}.{:03}", rest * 1000 / ticks);
            let description = "CPU time in user and system mode";
            metric(text, "cpu_seconds_total", "counter", description, value);
        }
        if let Some(threads) = field(20) {
            metric(text, "threads", "gauge", "Threads", threads);
        }
        if let Some(pages) = field(24) {
            let bytes = pages.saturating_mul(page_size() as u64);
            let description = "Memory that is not swapped out";
            metric(text, "resident_memory_bytes", "gauge", description, bytes);
        }
    }

    fn metric(text: &mut String, name: &str, kind: &str, description: &str, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# HELP process_{name} {description}\n# TYPE process_{name} {kind}\nprocess_{name} {value}\n"
        );
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn name_of_the_program_may_have_blanks_and_parentheses() {
            let mut text = String::new();
            let fields = "S 1 1 1 0 -1 4194560 0 0 0 0 150 25 0 0 20 0 9 0 100 1000 7";
            render_stat(&format!("12 (a) (b c) {fields}"), &mut text);
            assert!(text.contains("\nprocess_threads 9\n"), "{text}");
            assert!(text.contains("\nprocess_cpu_seconds_total "), "{text}");
            let bytes = 7 * page_size();
            let memory = format!("\nprocess_resident_memory_bytes {bytes}\n");
            assert!(text.contains(&memory), "{text}");
        }
    }
}
