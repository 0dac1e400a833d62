//! Reverse proxies as processes, with the configuration files in `deploy/` except for ports.

use std::{
    fs,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use robot_core::conformance::{Answer, TcpClient};
use tempfile::TempDir;

use crate::{
    call,
    process::{exchange, wait_for},
};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Nginx,
    Haproxy,
}

pub(crate) const KINDS: [Kind; 2] = [Kind::Nginx, Kind::Haproxy];

/// A running proxy, killed on drop.
pub(crate) struct Proxy {
    process: Child,
    pub(crate) port: u16,
    folder: TempDir,
}

impl Proxy {
    /// Starts a proxy in front of a server.
    pub(crate) fn start(kind: Kind, server: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut configuration =
            changed(kind.configuration(), &kind.substitutes(folder.path(), port));
        configuration = changed(&configuration, &[("127.0.0.1:8000", &server.to_string())]);
        fs::write(folder.path().join("configuration"), configuration).unwrap();
        let process = kind
            .command(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", kind.package()));
        let mut proxy = Self {
            process,
            port,
            folder,
        };
        wait_for("the proxy listens", || {
            let ended = proxy.process.try_wait().unwrap();
            let log = || fs::read_to_string(proxy.folder.path().join("log")).unwrap();
            assert!(ended.is_none(), "{kind:?} ended: {}", log());
            TcpStream::connect(proxy.address()).is_ok()
        });
        proxy
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Connections to this address come from another client address.
    pub(crate) fn other_address(&self) -> SocketAddr {
        (Ipv6Addr::LOCALHOST, self.port).into()
    }

    pub(crate) fn call(&self, method: &str, target: &str, body: &str) -> Answer {
        call(&TcpClient::new(self.address()), method, target, body)
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn ask(&self, line: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let sent = format!(
            "{line} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        exchange(self.address(), sent.as_bytes())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Kind {
    fn configuration(self) -> &'static str {
        match self {
            Self::Nginx => include_str!("../../deploy/nginx.conf"),
            Self::Haproxy => include_str!("../../deploy/haproxy.cfg"),
        }
    }

    /// What differs without root and with another port.
    fn substitutes(self, folder: &Path, port: u16) -> Vec<(&'static str, String)> {
        let folder = folder.display();
        match self {
            Self::Nginx => {
                let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map(|kind| format!("    {kind}_temp_path {folder}/{kind};\n"))
                    .concat();
                vec![
                    ("user www-data;", String::new()),
                    ("/run/nginx.pid", format!("{folder}/pid")),
                    (
                        "http {\n",
                        format!("http {{\n    access_log off;\n{temporary}"),
                    ),
                    (
                        "listen 80;",
                        format!("listen 127.0.0.1:{port}; listen [::1]:{port};"),
                    ),
                ]
            }
            Self::Haproxy => vec![(
                "bind :80\n",
                format!("bind 127.0.0.1:{port},[::1]:{port}\n"),
            )],
        }
    }

    /// The command that runs the proxy as one process, which is easy to kill.
    fn command(self, folder: &Path) -> Command {
        let configuration = folder.join("configuration");
        let mut command = match self {
            Self::Nginx => Command::new("/usr/sbin/nginx"),
            Self::Haproxy => Command::new("/usr/sbin/haproxy"),
        };
        match self {
            Self::Nginx => command
                .args(["-g", "daemon off; master_process off;"])
                .args(["-e", "stderr", "-p"])
                .arg(folder)
                .arg("-c"),
            Self::Haproxy => command.args(["-db", "-f"]),
        };
        command.arg(configuration);
        command
    }

    fn package(self) -> &'static str {
        match self {
            Self::Nginx => "/usr/sbin/nginx (Debian package nginx-light)",
            Self::Haproxy => "/usr/sbin/haproxy (Debian package haproxy)",
        }
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Replaces texts in a configuration, each of which must occur.
fn changed(text: &str, changes: &[(&str, impl AsRef<str>)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "'{old}' is not in the configuration");
        text.replace(old, new.as_ref())
    })
}
