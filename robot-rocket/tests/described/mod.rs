//! Comparison of all exchanges of the conformance cases with the description of the API.

mod document;
mod schema;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use robot_core::{
    conformance::{Answer, Call, Client, Configuration, Framing, Pace},
    http::Behaviour,
};

use document::Document;
use schema::Validator;

/// Number of bytes from which a reply is not requested again. Greater, and long lists slow down the cases.
const REPEATED: usize = 10_000;

/// The documents of both behaviours.
#[derive(Default)]
pub(crate) struct Descriptions([OnceLock<Arc<Document>>; 2]);

impl Descriptions {
    /// A client of an empty catalogue that compares each exchange with the document of its service.
    pub(crate) fn watch<C: Client>(&self, client: C, configuration: Configuration) -> Watched<C> {
        let Self([a, b]) = self;
        let is_a = configuration.behaviour == Behaviour::A;
        let document = (if is_a { a } else { b }).get_or_init(|| {
            let answer = client.send(&Call::new("GET", "/openapi.json", &[], ""));
            let answer = answer.unwrap_or_else(|error| panic!("{error}"));
            let document = Document::new(&answer.body);
            document.check_parameters(&client);
            Arc::new(document)
        });
        let document = Arc::clone(document);
        let redefined = Mutex::default();
        Watched {
            client,
            document,
            redefined,
        }
    }
}

impl Descriptions {
    /// What is described, and was produced by no exchange, after all cases.
    pub(crate) fn missing(&self) -> Vec<String> {
        let Self(documents) = self;
        let documents = documents.iter().filter_map(OnceLock::get);
        documents.flat_map(|document| document.missing()).collect()
    }
}

/// A client that compares each exchange with the document.
pub(crate) struct Watched<C> {
    client: C,
    document: Arc<Document>,
    /// The schemas after the last change of the definition.
    redefined: Mutex<Option<Validator>>,
}

impl<C: Client> Client for Watched<C> {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let answer = self.client.deliver(call, framing, pace)?;
        self.check(call, &answer);
        if call.method == "PUT" && call.target.contains("/definition") {
            let json = self
                .client
                .send(&Call::new("GET", "/openapi.json", &[], ""))?;
            *self.redefined() = Some(Validator::new(&serde_json::from_slice(&json.body)?));
        }
        if pace == Pace::AtOnce && answer.body.len().max(call.body.len()) < REPEATED {
            self.repeat(call, &answer)?;
        }
        Ok(answer)
    }
}

impl<C> Watched<C> {
    fn redefined(&self) -> MutexGuard<'_, Option<Validator>> {
        self.redefined
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, call: &Call, answer: &Answer) {
        match &*self.redefined() {
            Some(validator) => self.document.check_by(validator, call, answer),
            None => self.document.check(call, answer),
        }
    }
}

impl<C: Client> Watched<C> {
    /// Sends a `GET` again, as a `HEAD`, for JSON and at `/v1`, and a change that has stored nothing for JSON and at
    /// `/v1`, which is stricter.
    fn repeat(&self, call: &Call, answer: &Answer) -> io::Result<()> {
        let mut repeated = Vec::new();
        let is_get = call.method == "GET";
        if is_get {
            let mut head = call.clone();
            "HEAD".clone_into(&mut head.method);
            repeated.push(head);
        }
        if is_get || answer.status >= 400 && !answer.text().contains("\"data\":") {
            let mut json = call.clone();
            json.headers
                .retain(|(name, _)| !name.eq_ignore_ascii_case("accept"));
            json.headers
                .push(("accept".to_owned(), "application/json".to_owned()));
            repeated.push(json);
        }
        if call.target.starts_with("/api/") && answer.status != 405 {
            let mut v1 = repeated.clone();
            for call in &mut v1 {
                call.target = call.target.replacen("/api/", "/v1/", 1);
            }
            repeated.extend(v1);
        }
        for call in repeated {
            let answer = self.client.send(&call)?;
            self.check(&call, &answer);
        }
        Ok(())
    }
}
