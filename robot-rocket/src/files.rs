//! Static files: an existing file takes precedence over the routes (`docs/operations.md`,
//! `ROCKET_STATIC_DIR`).

use std::path::{Path, PathBuf};

use robot_core::http::Api;
use rocket::{
    Data, Request, Route,
    fs::NamedFile,
    http::{
        Method, Status,
        uri::{Segments, fmt},
    },
    response::Responder,
    route::{Handler, Outcome},
    tokio::fs,
};

use crate::{rank, routes::core_request};

/// Before the routes of the catalogue, after those of applications.
const RANK: isize = 2000;

/// The routes of the files of a folder, for the hosts that the catalogue accepts.
pub(crate) fn routes(base: &str, folder: &Path, api: &Api) -> Vec<Route> {
    // A file is served only if its canonical path is below that of the folder. This fails only if
    // the folder does not exist, and then no file in it does.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    [Method::Get, Method::Head]
        .map(|method| {
            let handler = Files {
                folder: folder.clone(),
                api: api.clone(),
            };
            let mut route = Route::ranked(rank(RANK, base), method, "/<path..>", handler);
            route.name = Some("static files".into());
            route
        })
        .into()
}

#[derive(Clone)]
struct Files {
    folder: PathBuf,
    api: Api,
}

impl Files {
    /// The file of a path, unless it is hidden (`.name`), outside of the folder, also by a symbolic
    /// link, or the `Host` is not accepted.
    async fn file(&self, request: &Request<'_>) -> Option<NamedFile> {
        let segments: Segments<'_, fmt::Path> = request.segments(0..).ok()?;
        let mut path = self.folder.join(segments.to_path_buf(false).ok()?);
        if request.uri().path().ends_with('/') {
            path.push("index.html");
        }
        let path = fs::canonicalize(path).await.ok()?;
        let is_served = path.strip_prefix(&self.folder).is_ok_and(is_visible)
            && self.api.host_allowed(&core_request("GET", request));
        if !is_served || !fs::metadata(&path).await.ok()?.is_file() {
            return None;
        }
        NamedFile::open(path).await.ok()
    }
}

/// Whether no part of a path below the folder is hidden.
fn is_visible(path: &Path) -> bool {
    path.iter()
        .all(|part| !part.as_encoded_bytes().starts_with(b"."))
}

#[rocket::async_trait]
impl Handler for Files {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        match self
            .file(request)
            .await
            .map(|file| file.respond_to(request))
        {
            Some(Ok(response)) => Outcome::Success(response),
            _ => Outcome::Forward((data, Status::NotFound)),
        }
    }
}
