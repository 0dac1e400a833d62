//! TCP relay that delays what it passes on, like a network between two machines.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Maximum size of a piece of data.
const PIECE: usize = 64 * 1024;

/// Maximum number of pieces that are delayed in one direction: enough not to limit the throughput.
const PIECES: usize = 1024;

/// Starts a relay in front of an address, and returns its own. It runs until the process ends.
pub(crate) fn start(target: SocketAddr, round_trip: Duration) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // If the target is unreachable, the client's connection is closed.
            let _ = relay(client, target, round_trip / 2);
        }
    });
    Ok(address)
}

fn relay(client: TcpStream, target: SocketAddr, delay: Duration) -> io::Result<()> {
    let server = TcpStream::connect(target)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    pass_on(client.try_clone()?, server.try_clone()?, delay);
    pass_on(server, client, delay);
    Ok(())
}

/// Passes on the data of one direction, each piece after a delay.
fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, receiver) = mpsc::sync_channel(PIECES);
    thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let piece = (Instant::now() + delay, buffer[..length].to_vec());
            if sender.send(piece).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, piece) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        // The other end may have closed the connection.
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn both_directions_are_delayed() {
    const ROUND_TRIP: Duration = Duration::from_millis(200);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let relay = start(listener.local_addr().unwrap(), ROUND_TRIP).unwrap();
    let mut client = TcpStream::connect(relay).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let (sent, mut byte) = (Instant::now(), [0]);
    client.write_all(b"?").unwrap();
    server.read_exact(&mut byte).unwrap();
    assert!(sent.elapsed() >= ROUND_TRIP / 2);
    server.write_all(b"!").unwrap();
    client.read_exact(&mut byte).unwrap();
    assert!(sent.elapsed() >= ROUND_TRIP);
    // The end is passed on, too.
    drop(server);
    assert_eq!(client.read(&mut byte).unwrap(), 0);
}
