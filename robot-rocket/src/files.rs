//! The static files: an existing file goes before the routes (contract, "What the service
//! does").

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

use crate::{rank, routes::question};

/// Before the routes of the catalogue, behind those of applications.
const RANK: isize = 2000;

/// The routes that answer with files of a folder, to those whom the catalogue answers.
pub(crate) fn routes(base: &str, folder: &Path, api: &Api) -> Vec<Route> {
    // A file is served only where its true path is below that of the folder. A folder that
    // has none does not exist, and neither do its files.
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
    /// The file that a path names. Hidden files (`.name`) and what lies outside the folder,
    /// also by way of a link, are none, and for a foreign `Host` there is no file at all.
    async fn file(&self, request: &Request<'_>) -> Option<NamedFile> {
        let segments: Segments<'_, fmt::Path> = request.segments(0..).ok()?;
        let mut path = self.folder.join(segments.to_path_buf(false).ok()?);
        if request.uri().path().ends_with('/') {
            path.push("index.html");
        }
        let path = fs::canonicalize(path).await.ok()?;
        let is_shown = path.strip_prefix(&self.folder).is_ok_and(is_shown)
            && self.api.is_addressed_by(&question("GET", request));
        if !is_shown || !fs::metadata(&path).await.ok()?.is_file() {
            return None;
        }
        NamedFile::open(path).await.ok()
    }
}

/// Whether no part of a path below the folder is hidden.
fn is_shown(path: &Path) -> bool {
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
