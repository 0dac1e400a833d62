//! What somebody writes who wants robots added fast and nothing else: one statement a request,
//! committed without a wait for the disk, no check of any rule, and no index for the search.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use diesel::{
    QueryResult, RunQueryDsl, SqliteConnection,
    connection::SimpleConnection,
    sql_query,
    sql_types::{BigInt, Text},
};
use rocket::{
    Build, Data, Request, Rocket, Route,
    data::ToByteUnit,
    http::{Method, Status},
    route::{Handler, Outcome},
    tokio::task::spawn_blocking,
};
use serde::{Deserialize, Serialize};

use super::fixed;
use crate::data;

/// Mounts the addition of robots to a file that has the table already.
pub(super) fn mount(rocket: Rocket<Build>, path: &Path) -> Result<Rocket<Build>, String> {
    super::drop_index(path)?;
    let mut connection = data::connect(path)?;
    connection
        .batch_execute("PRAGMA synchronous = NORMAL")
        .map_err(|error| format!("cannot do without syncing: {error}"))?;
    let add = Add(Arc::new(Mutex::new(connection)));
    Ok(rocket.mount("/", [Route::new(Method::Post, "/api/robots", add)]))
}

/// What is submitted.
#[derive(Deserialize, Serialize)]
struct Submitted {
    name: String,
    r#type: String,
    year: i64,
}

#[derive(Serialize)]
struct Answer {
    status: &'static str,
    data: Added,
}

#[derive(Serialize)]
struct Added {
    #[serde(flatten)]
    submitted: Submitted,
    id: String,
}

#[derive(diesel::QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(Clone)]
struct Add(Arc<Mutex<SqliteConnection>>);

#[rocket::async_trait]
impl Handler for Add {
    async fn handle<'r>(&self, _: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        let body = data.open(64.kibibytes()).into_bytes().await;
        let submitted = body
            .ok()
            .and_then(|body| serde_json::from_slice(&body).ok());
        let Some(submitted) = submitted else {
            return Outcome::Error(Status::BadRequest);
        };
        let connection = Arc::clone(&self.0);
        match spawn_blocking(move || add(&connection, submitted)).await {
            Ok(Ok(answer)) => {
                Outcome::Success(fixed::response(Status::Created, answer, fixed::LARGE_PIECE))
            }
            _ => Outcome::Error(Status::InternalServerError),
        }
    }
}

fn add(connection: &Mutex<SqliteConnection>, submitted: Submitted) -> QueryResult<Vec<u8>> {
    let insertion =
        sql_query("INSERT INTO robots (name, type, year) VALUES (?, ?, ?) RETURNING id")
            .bind::<Text, _>(&submitted.name)
            .bind::<Text, _>(&submitted.r#type)
            .bind::<BigInt, _>(submitted.year);
    let Id { id } = {
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        insertion.get_result(&mut *connection)?
    };
    let answer = Answer {
        status: "OK",
        data: Added {
            submitted,
            id: id.to_string(),
        },
    };
    serde_json::to_vec(&answer)
        .map_err(|error| diesel::result::Error::SerializationError(error.into()))
}
