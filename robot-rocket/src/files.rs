//! Static files: an existing file takes precedence over the routes (`docs/operations/configure.md`,
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
    tokio::task::spawn_blocking,
};

use crate::{
    mounted::{Catalogues, Mounted},
    routes, routing,
};

/// The routes of the files of a folder, for the hosts that the catalogue accepts.
pub(crate) fn routes(mounted: &Mounted, folder: &Path) -> Vec<Route> {
    // A file is served only if its canonical path is below that of the folder. This fails only if
    // the folder does not exist, and then no file in it does.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let rank = routing::files_rank(&mounted.base);
    let api = mounted.api.clone();
    let files = Files { folder, api };
    [Method::Get, Method::Head]
        .map(|method| Route::ranked(rank, method, "/<path..>", files.clone()))
        .into()
}

#[derive(Clone)]
struct Files {
    folder: PathBuf,
    api: Api,
}

impl Files {
    /// The file of a path, unless it is hidden (`.name`), outside of the folder, also by a symbolic
    /// link, a file of a store, also by a hard link, or the `Host` is not accepted.
    async fn file(&self, request: &Request<'_>) -> Option<NamedFile> {
        let segments: Segments<'_, fmt::Path> = request.segments(0..).ok()?;
        let mut path = self.folder.join(segments.to_path_buf(false).ok()?);
        if request.uri().path().ends_with('/') {
            path.push("index.html");
        }
        if !self.api.host_allowed(&routes::headers(request)) {
            return None;
        }
        let catalogues = request.rocket().state().map(Catalogues::all)?;
        let folder = self.folder.clone();
        let path = spawn_blocking(move || served(&folder, &path, &catalogues));
        let path = path.await.ok()??;
        NamedFile::open(path).await.ok()
    }
}

/// The canonical path, if the file is served. Reads metadata only: opening a pipe could block,
/// and opening a file of a store would do harm.
fn served(folder: &Path, path: &Path, catalogues: &[Mounted]) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let mut catalogues = catalogues.iter();
    let is_served = path.strip_prefix(folder).is_ok_and(is_visible)
        && path.metadata().ok()?.is_file()
        && !catalogues.any(|mounted| mounted.files.contains(&path));
    is_served.then_some(path)
}

/// Whether no part of a path below the folder is hidden.
fn is_visible(path: &Path) -> bool {
    path.iter()
        .all(|part| !part.as_encoded_bytes().starts_with(b"."))
}

#[rocket::async_trait]
impl Handler for Files {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        let file = self.file(request).await;
        match file.map(|file| file.respond_to(request)) {
            Some(Ok(response)) => Outcome::Success(response),
            _ => Outcome::Forward((data, Status::NotFound)),
        }
    }
}
