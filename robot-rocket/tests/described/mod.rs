//! Comparison of a service with its description (`/openapi.json`), in both directions.
//!
//! Every exchange of the conformance cases must agree with the document. What no exchange of the cases
//! has produced, those in `extras` have to produce: the document must have nothing else.

mod document;
mod extras;
mod schema;

use std::{
    io,
    sync::{Arc, OnceLock},
};

use robot_core::{
    conformance::{Answer, Call, Client, Configuration, Framing, Pace},
    http::Behaviour,
};

use document::Document;
pub(crate) use extras::produce_the_rest;

/// Number of bytes from which a reply is not requested again. Greater, and long lists slow down the cases.
const REPEATED: usize = 10_000;

/// The documents of both behaviours, and what the exchanges have produced of them.
#[derive(Default)]
pub(crate) struct Descriptions([OnceLock<Arc<Document>>; 2]);

impl Descriptions {
    /// A client that compares each exchange with the document of its service.
    pub(crate) fn watch<C: Client>(&self, client: C, configuration: Configuration) -> Watched<C> {
        let document = self.of(configuration.behaviour, &client);
        Watched { client, document }
    }

    fn of(&self, behaviour: Behaviour, client: &dyn Client) -> Arc<Document> {
        let Self([a, b]) = self;
        let document = if behaviour == Behaviour::A { a } else { b };
        Arc::clone(document.get_or_init(|| {
            let answer = client.send(&call("GET", "/openapi.json", &[], b""));
            let answer = answer.unwrap_or_else(|error| panic!("{error}"));
            Arc::new(Document::new(&answer.body))
        }))
    }
}

/// A client that compares each exchange with the document.
pub(crate) struct Watched<C> {
    client: C,
    document: Arc<Document>,
}

impl<C: Client> Client for Watched<C> {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let answer = self.client.deliver(call, framing, pace)?;
        self.document.check(call, &answer);
        if pace == Pace::AtOnce && answer.body.len().max(call.body.len()) < REPEATED {
            self.repeat(call, &answer)?;
        }
        Ok(answer)
    }
}

impl<C: Client> Watched<C> {
    /// Sends a `GET` again, as a `HEAD` and for JSON, and a change that has stored nothing for JSON.
    fn repeat(&self, call: &Call, answer: &Answer) -> io::Result<()> {
        let repeated = if call.method == "GET" {
            let mut head = call.clone();
            "HEAD".clone_into(&mut head.method);
            vec![head, preferring_json(call)]
        } else if answer.status >= 400 && !answer.text().contains("\"data\":") {
            vec![preferring_json(call)]
        } else {
            Vec::new()
        };
        for call in repeated {
            let answer = self.client.send(&call)?;
            self.document.check(&call, &answer);
        }
        Ok(())
    }
}

fn preferring_json(call: &Call) -> Call {
    let mut call = call.clone();
    call.headers
        .retain(|(name, _)| !name.eq_ignore_ascii_case("accept"));
    call.headers
        .push(("accept".to_owned(), "application/json".to_owned()));
    call
}

fn call(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Call {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Call {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
        body: body.to_owned(),
    }
}
