//! Headers of replies.

use super::json::{Json, object};

/// A header of replies.
struct Header {
    name: &'static str,
    text: &'static str,
    presence: Presence,
}

/// In which of the replies that describe a header it is.
#[derive(PartialEq, Eq)]
enum Presence {
    Always,
    Sometimes,
}

/// The headers of every reply.
pub(super) const COMMON: [&str; 7] = [
    "Vary",
    "X-Content-Type-Options",
    "Content-Security-Policy",
    "X-Request-Id",
    "Preference-Applied",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
];

const HEADERS: [Header; 19] = [
    always(
        "Vary",
        "`Accept`, and `Origin` if pages of other origins are allowed.",
    ),
    always("X-Content-Type-Options", "`nosniff`"),
    always("Content-Security-Policy", "Permits nothing."),
    always(
        "X-Request-Id",
        "By this id, the operator of the service finds the request in the log.",
    ),
    sometimes(
        "Preference-Applied",
        "`handling=strict`, if the request has this preference.",
    ),
    sometimes(
        "Access-Control-Allow-Origin",
        "The origin of the page that sent the request, if it is another one and allowed.",
    ),
    sometimes(
        "Access-Control-Expose-Headers",
        "The headers that such a page may read.",
    ),
    sometimes(
        "Access-Control-Allow-Methods",
        "The methods that such a page may use.",
    ),
    sometimes(
        "Access-Control-Allow-Headers",
        "The headers that such a page may send.",
    ),
    sometimes(
        "Access-Control-Max-Age",
        "The seconds for which a browser need not ask again.",
    ),
    always("Allow", "The methods of this path."),
    always("Accept-Patch", "The type of the body of a `PATCH`."),
    sometimes(
        "Link",
        "The next page, if there is one: `</api/robots?limit=2&after=A2>; rel=\"next\"`.",
    ),
    sometimes(
        "X-Total-Count",
        "The number of robots on all pages, for `count=true`.",
    ),
    sometimes(
        "ETag",
        "The revision of the robot, in quotation marks, for `If-Match` and `If-None-Match`.",
    ),
    always(
        "Content-Disposition",
        "The name of the file, which browsers save.",
    ),
    sometimes(
        "WWW-Authenticate",
        "The challenge of RFC 6750, if a token would help.",
    ),
    always(
        "Retry-After",
        "The seconds after which to try again: 60 if an operator has to act before.",
    ),
    always("Cache-Control", "`no-cache`"),
];

const fn always(name: &'static str, text: &'static str) -> Header {
    Header {
        name,
        text,
        presence: Presence::Always,
    }
}

const fn sometimes(name: &'static str, text: &'static str) -> Header {
    Header {
        name,
        text,
        presence: Presence::Sometimes,
    }
}

/// All headers, by the names of their components.
pub(super) fn all() -> Json {
    let headers = HEADERS.iter().map(|header| {
        let described = object! {
            "description" => header.text,
            "required" => header.presence == Presence::Always,
            "schema" => object! { "type" => "string" },
        };
        (header.name.into(), described)
    });
    Json::Object(headers.collect())
}

/// References to headers: the common ones, and these.
pub(super) fn references(names: &[&'static str]) -> Json {
    let names = COMMON.iter().chain(names);
    let headers = names.map(|name| ((*name).into(), Json::reference("headers", name)));
    Json::Object(headers.collect())
}
