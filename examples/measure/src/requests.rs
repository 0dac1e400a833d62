//! The requests that are sent, rendered with as little work as possible.

use std::{
    io::Write,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    data,
    load::{Kind, Source},
};

/// The number of the newest robot that was added under load. It begins behind all the numbers
/// of the data, and never goes back, so that a name is new to every store.
static NEWEST: AtomicU64 = AtomicU64::new(10_000_000);

/// Of so many mixed requests, one writes.
const MIXED: u32 = 20;

/// The list of all robots.
pub(crate) const LIST: &str = "/api/robots";

/// A request that reads a path.
pub(crate) fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    let mut request = Vec::new();
    write_bodiless(&mut request, "GET", path, address);
    request
}

/// A request that deletes a robot.
pub(crate) fn delete(address: SocketAddr, id: u64) -> Vec<u8> {
    let mut request = Vec::new();
    write_bodiless(&mut request, "DELETE", &robot(id), address);
    request
}

/// A request that adds a robot with a name that none ever had.
pub(crate) fn post(address: SocketAddr) -> Vec<u8> {
    let mut request = Vec::new();
    write_draft(&mut request, "POST", LIST, address);
    request
}

/// A request that gives a robot a name that none ever had.
pub(crate) fn put(address: SocketAddr, id: u64) -> Vec<u8> {
    let mut request = Vec::new();
    write_draft(&mut request, "PUT", &robot(id), address);
    request
}

/// The path of a robot.
pub(crate) fn robot(id: u64) -> String {
    format!("{LIST}/{id}")
}

/// The path of a fixed answer of some length, under `/fixed` or `/tuned`.
pub(crate) fn fixed(base: &str, length: usize) -> String {
    format!("{base}/{length}")
}

/// The same path again and again.
pub(crate) fn same(address: SocketAddr, path: &str) -> impl Fn() -> Source + use<> {
    let rendered = get(address, path);
    move || {
        let rendered = rendered.clone();
        Box::new(move |request| {
            request.extend_from_slice(&rendered);
            Kind::Read
        })
    }
}

/// A robot of the ids from 1, whichever, again and again.
pub(crate) fn any_robot(address: SocketAddr, robots: u64) -> impl Fn() -> Source {
    move || {
        let mut chance = fastrand::Rng::new();
        Box::new(move |request| read_any(request, &mut chance, robots, address))
    }
}

/// New robots.
pub(crate) fn new_robots(address: SocketAddr) -> impl Fn() -> Source {
    move || {
        Box::new(move |request| {
            write_draft(request, "POST", LIST, address);
            Kind::Write
        })
    }
}

/// 95 of a hundred read a robot of the ids from 1, the others add one.
pub(crate) fn mixed(address: SocketAddr, robots: u64) -> impl Fn() -> Source {
    move || {
        let mut chance = fastrand::Rng::new();
        Box::new(move |request| {
            if chance.u32(..MIXED) > 0 {
                return read_any(request, &mut chance, robots, address);
            }
            write_draft(request, "POST", LIST, address);
            Kind::Write
        })
    }
}

fn read_any(
    request: &mut Vec<u8>,
    chance: &mut fastrand::Rng,
    robots: u64,
    address: SocketAddr,
) -> Kind {
    let id = chance.u64(1..=robots);
    // Nothing that is written into a vector fails.
    let _ = write!(
        request,
        "GET {LIST}/{id} HTTP/1.1\r\nHost: {address}\r\n\r\n"
    );
    Kind::Read
}

fn write_bodiless(request: &mut Vec<u8>, method: &str, path: &str, address: SocketAddr) {
    let _ = write!(
        request,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"
    );
}

fn write_draft(request: &mut Vec<u8>, method: &str, path: &str, address: SocketAddr) {
    let number = NEWEST.fetch_add(1, Ordering::Relaxed) + 1;
    let body = format!(
        r#"{{"name":"{}","type":"{}","year":{}}}"#,
        data::name(number),
        data::robot_type(number),
        data::year(number)
    );
    let _ = write!(
        request,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
}
