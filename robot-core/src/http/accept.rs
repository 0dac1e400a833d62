//! Content negotiation: the contract's `Content-Type`, or JSON for a client that prefers it.

/// The contract's type, the default.
pub(super) const CONTRACT: &str = "text/html; charset=UTF-8";
/// The type for clients that list it and prefer it.
pub(super) const JSON: &str = "application/json";
/// The type of server-sent events.
pub(super) const EVENTS: &str = "text/event-stream";
/// The type of the details of a problem (RFC 9457).
pub(super) const PROBLEM: &str = "application/problem+json";

/// The content type for this `Accept`.
pub(super) fn content_type(accept: Option<&str>) -> &'static str {
    let ranges: Vec<_> = accept
        .unwrap_or_default()
        .split(',')
        .filter_map(media_range)
        .collect();
    let weight = |names: &[&str]| {
        // The first name is the most specific. If a client repeats a range, the last one counts.
        names.iter().find_map(|name| {
            ranges
                .iter()
                .rfind(|(range, _)| range.eq_ignore_ascii_case(name))
                .map(|(_, weight)| *weight)
        })
    };
    let html = weight(&["text/html", "text/*", "*/*"]).unwrap_or(0.0);
    match weight(&[JSON]) {
        Some(json) if json > 0.0 && json >= html => JSON,
        _ => CONTRACT,
    }
}

/// Whether this `Accept` names server-sent events.
pub(super) fn accepts_events(accept: Option<&str>) -> bool {
    let mut ranges = accept
        .unwrap_or_default()
        .split(',')
        .filter_map(media_range);
    ranges.any(|(range, weight)| range.eq_ignore_ascii_case(EVENTS) && weight > 0.0)
}

/// A media range and its weight, from 0 to 1; `None` if it is malformed.
fn media_range(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| range.contains('/'))?;
    let weight = parts
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(Some(1.0), |(_, value)| value.trim().parse().ok())?;
    (0.0..=1.0).contains(&weight).then_some((range, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_chosen_if_listed_and_preferred() {
        for accept in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json, text/plain, */*",
            "text/html;q=0.5, application/json",
            "text/html, application/json",
            "application/json;q=0.001",
            "text/html;q=0, */*, application/json;q=0.1",
        ] {
            assert_eq!(content_type(Some(accept)), JSON, "{accept}");
        }
    }

    #[test]
    fn contract_type_is_chosen_otherwise() {
        for accept in [
            "",
            "*/*",
            "text/html",
            "application/*",
            "application/xml",
            "application/json;q=0",
            "application/json;q=0.8, text/html",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/json;q=0.5, */*",
            "application/json;q=high",
            "application/jsonp",
            ";;,,;q=1",
        ] {
            assert_eq!(content_type(Some(accept)), CONTRACT, "{accept}");
        }
        assert_eq!(content_type(None), CONTRACT);
    }
}
