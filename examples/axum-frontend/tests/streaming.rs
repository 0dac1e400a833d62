//! A list that the store cannot finish is broken off, so that no client takes it for whole.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use robot_core::{
    Catalogue, Draft, Error, MemoryCatalogue, PageRequest, Result, Robot, RobotId, ValidDraft,
    conformance::{Call, Client, TcpClient},
    http::Api,
};
use tokio::{net::TcpListener, runtime::Runtime};

/// A catalogue whose first page can be read, and the others only while it is not cut off.
struct Fragile {
    robots: MemoryCatalogue,
    is_cut_off: AtomicBool,
}

impl Catalogue for Fragile {
    fn insert(&self, draft: &ValidDraft) -> Result<RobotId> {
        self.robots.insert(draft)
    }
    fn update(&self, id: RobotId, draft: &ValidDraft) -> Result<()> {
        self.robots.update(id, draft)
    }
    fn delete(&self, id: RobotId) -> Result<()> {
        self.robots.delete(id)
    }
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.robots.get(id)
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        self.robots.find(name)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        if !request.after.is_empty() && self.is_cut_off.load(Ordering::Relaxed) {
            return Err(Error::Unavailable("cut off".into()));
        }
        self.robots.page(request)
    }
}

#[test]
fn a_list_that_cannot_be_finished_is_broken_off() {
    let catalogue = Arc::new(Fragile {
        robots: MemoryCatalogue::new(),
        is_cut_off: AtomicBool::new(false),
    });
    for number in 0..2500 {
        let draft = Draft::new(format!("RX-{number}"), "droid", 1977);
        catalogue.add(draft).unwrap();
    }
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let client = TcpClient::new(listener.local_addr().unwrap());
    let router = axum_frontend::router(Api::new(Arc::clone(&catalogue) as Arc<dyn Catalogue>));
    runtime.spawn(async { axum::serve(listener, router).await });
    let list = Call {
        method: "GET".to_owned(),
        target: "/api/robots".to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };

    let whole = client.send(&list).unwrap();
    assert_eq!(whole.status, 200);
    assert_eq!(whole.text().matches("RX-").count(), 2500);

    catalogue.is_cut_off.store(true, Ordering::Relaxed);
    let error = client.send(&list).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
}
