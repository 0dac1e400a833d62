//! Replies of operations: their status codes, headers and bodies.

use super::{
    headers,
    json::{Json, object},
    schemas,
};
use crate::{
    http::{accept, behaviour::Behaviour},
    transfer::Format,
};

/// A reply that operations may have.
#[derive(Clone, Copy)]
pub(in crate::http) struct Response {
    /// The name of its component.
    name: &'static str,
    status: fn(Behaviour) -> u16,
    text: &'static str,
    content: Content,
    /// The headers besides those of every reply.
    headers: &'static [&'static str],
}

/// The body of a reply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Empty,
    /// JSON with this schema, in the type that the client prefers.
    Negotiated(&'static str),
    /// A failure before the preference of the client is known.
    Refusal,
    /// A file of robots.
    Export,
    /// This document.
    Description,
}

const fn response(
    name: &'static str,
    status: fn(Behaviour) -> u16,
    text: &'static str,
) -> Response {
    Response {
        name,
        status,
        text,
        content: Content::Negotiated("Failure"),
        headers: &[],
    }
}

const fn success(name: &'static str, schema: &'static str, text: &'static str) -> Response {
    Response {
        content: Content::Negotiated(schema),
        ..response(name, |_| 200, text)
    }
}

pub(in crate::http) const ROBOTS: Response = Response {
    headers: &["Link", "X-Total-Count"],
    ..success("Robots", "Robots", "The robots, in the order of `sort`.")
};
pub(in crate::http) const ROBOT: Response = Response {
    headers: &["ETag"],
    ..success(
        "Robot",
        "RobotResult",
        "The robot, or that no robot has the id: the status in the body distinguishes them.",
    )
};
pub(in crate::http) const CREATED: Response = Response {
    content: Content::Negotiated("RobotCreated"),
    ..response(
        "Created",
        |behaviour| behaviour.created().as_u16(),
        "The robot is added, and on disk.",
    )
};
pub(in crate::http) const CHANGED: Response = Response {
    headers: &["ETag"],
    ..success(
        "Changed",
        "Done",
        "The robot is changed, and on disk. If `If-Match` has revisions, the reply has the new `ETag`.",
    )
};
pub(in crate::http) const DELETED: Response = success(
    "Deleted",
    "Done",
    "The robot is deleted, and the change on disk.",
);
pub(in crate::http) const SUMMARY: Response = success(
    "Summary",
    "Summary",
    "The numbers of robots by type and decade, in this order.",
);
pub(in crate::http) const IMPORTED: Response = success(
    "Imported",
    "ImportReport",
    "Something was stored, or nothing failed. There is a message for each of the first 100 failures.",
);
pub(in crate::http) const EXPORTED: Response = Response {
    content: Content::Export,
    headers: &["Content-Disposition"],
    ..response(
        "Exported",
        |_| 200,
        "The robots as a file. Names are in it byte for byte: `<`, `>` and `&` are not escaped. If \
         the service fails meanwhile, the last line is not a robot.",
    )
};
pub(in crate::http) const DESCRIPTION: Response = Response {
    content: Content::Description,
    headers: &["Cache-Control"],
    ..response("Description", |_| 200, "This document.")
};
pub(in crate::http) const NOT_MODIFIED: Response = Response {
    content: Content::Empty,
    headers: &["ETag"],
    ..response(
        "NotModified",
        |_| 304,
        "`If-None-Match` has the revision of the robot.",
    )
};
pub(super) const METHODS: Response = Response {
    content: Content::Empty,
    headers: &[
        "Allow",
        "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers",
        "Access-Control-Max-Age",
    ],
    ..response(
        "Methods",
        |_| 204,
        "The methods of the path are in `Allow`.",
    )
};

/// Failures that operations declare.
pub(in crate::http) const REJECTED: Response = response(
    "Rejected",
    |behaviour| behaviour.rejected().as_u16(),
    "A rule is violated; there is a message for each violation.",
);
pub(in crate::http) const STALE: Response = response(
    "Stale",
    |_| 412,
    "`If-Match` does not have the revision of the robot, or `If-None-Match` has it.",
);
pub(in crate::http) const NOT_A_PATCH: Response = Response {
    headers: &["Accept-Patch"],
    ..response(
        "NotAPatch",
        |_| 415,
        "The `Content-Type` is not that of a patch.",
    )
};

/// Failures that follow from what an operation is.
pub(super) const MALFORMED: Response = response(
    "Malformed",
    |_| 400,
    "The request cannot be understood: its head, a parameter, or its body, which may have been cut off.",
);
pub(super) const NO_TOKEN: Response = Response {
    headers: &["WWW-Authenticate"],
    ..response(
        "NoToken",
        |_| 401,
        "A token is needed, or the one that was sent is unknown.",
    )
};
pub(super) const NOT_PERMITTED: Response = Response {
    headers: &["WWW-Authenticate"],
    ..response(
        "NotPermitted",
        |_| 403,
        "The token permits only reading, the request is from a page of another origin that is not \
         allowed, or the service may only read its database.",
    )
};
pub(super) const NOT_FOUND: Response = response(
    "NotFound",
    |_| 404,
    "No robot has the id, or it is not a number. (A `GET` of an id that no robot has is 200.)",
);
pub(super) const TOO_SLOW: Response =
    response("TooSlow", |_| 408, "The body did not arrive in time.");
pub(super) const TOO_LARGE: Response = response("TooLarge", |_| 413, "The body is too large.");
pub(super) const FOREIGN_HOST: Response = response(
    "ForeignHost",
    |_| 421,
    "`Host` is not a name of this service.",
);
pub(super) const HEAD_TOO_LARGE: Response = Response {
    content: Content::Refusal,
    ..response(
        "HeadTooLarge",
        |_| 431,
        "The request line and the headers are too large.",
    )
};
pub(super) const TOO_MANY_CONNECTIONS: Response = Response {
    content: Content::Refusal,
    headers: &["Retry-After"],
    ..response(
        "TooManyConnections",
        |_| 503,
        "The service has too many connections.",
    )
};
pub(super) const FAILED: Response = response(
    "Failed",
    |_| 500,
    "The service failed. The message says whether it is unknown if something was stored.",
);
pub(super) const UNAVAILABLE: Response = Response {
    headers: &["Retry-After"],
    ..response(
        "Unavailable",
        |_| 503,
        "The service is busy, has too many connections or cannot reach its database, its disk is full, or it must be \
         restarted; the message says which.",
    )
};

/// What an operation replies with one status code: one response, or several that have the same code.
pub(super) struct Reply {
    pub(super) status: u16,
    /// The name of its component.
    pub(super) name: String,
    text: String,
    content: Content,
    headers: Vec<&'static str>,
}

impl Response {
    /// Whether this is the same response.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.name == other.name
    }

    pub(super) fn reply(&self, behaviour: Behaviour) -> Reply {
        Reply {
            status: (self.status)(behaviour),
            name: self.name.to_owned(),
            text: self.text.to_owned(),
            content: self.content,
            headers: self.headers.to_vec(),
        }
    }
}

impl Reply {
    /// Adds a response with the same code.
    pub(super) fn merge(&mut self, other: Self) {
        self.name = format!("{}Or{}", self.name, other.name);
        self.text = format!("{} Or: {}", self.text, other.text);
        self.headers.extend(other.headers);
    }

    /// Adds the counts that a failure of an import may have.
    pub(super) fn add_counts(&mut self) {
        if self.content == Content::Negotiated("Failure") {
            self.name = format!("Import{}", self.name);
            self.content = Content::Negotiated("ImportFailure");
        }
    }

    /// Adds a header.
    pub(super) fn add_header(&mut self, name: &'static str) {
        self.name = format!("{}With{}", self.name, name.replace('-', ""));
        self.headers.push(name);
    }

    /// Removes the body, which the reply to a `HEAD` does not have.
    pub(super) fn remove_body(&mut self) {
        if self.content != Content::Empty {
            self.name = format!("{}WithoutBody", self.name);
            self.content = Content::Empty;
        }
    }

    /// The component.
    pub(super) fn describe(&self) -> Json {
        let described = object! {
            "description" => self.text.clone(),
            "headers" => headers::references(&self.headers),
        };
        match self.content {
            Content::Empty => described,
            Content::Negotiated(schema) => {
                let of = |schema| object! { "schema" => schemas::reference(schema) };
                described.with(
                    "content",
                    object! { accept::JSON => of(schema), accept::CONTRACT => of(schema) },
                )
            }
            Content::Refusal => {
                let schema = schemas::reference("Failure");
                let content = object! { accept::CONTRACT => object! { "schema" => schema } };
                described.with("content", content)
            }
            Content::Export => described.with("content", files(schemas::reference("Robots"))),
            Content::Description => {
                let schema = schemas::reference("Description");
                described.with(
                    "content",
                    object! { accept::JSON => object! { "schema" => schema } },
                )
            }
        }
    }
}

/// The formats of files. That of JSON has a schema, the others are text.
pub(super) fn files(json: Json) -> Json {
    let text = |example: &'static str| {
        object! { "schema" => object! { "type" => "string" }, "example" => example }
    };
    let robot = object! { "name" => "R2-D2", "type" => "droid", "year" => 1977 };
    object! {
        Format::Ndjson.media_type() => text("{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}\n"),
        Format::Csv.media_type() => text("name,type,year\nR2-D2,droid,1977\n"),
        Format::Json.media_type() => object! { "schema" => json, "example" => vec![robot] },
    }
}
