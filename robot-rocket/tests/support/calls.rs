//! Calls to a server.

use std::fmt::Write;

use robot_core::{
    conformance::{Answer, Call, Client},
    http::{AccessToken, Permission},
};

use crate::process::Server;

/// Sends a call.
pub(crate) fn send(
    client: &dyn Client,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let answer = client.send(&Call::new(method, target, headers, body));
    answer.unwrap_or_else(|error| panic!("{method} {target} {body:.200}: {error}"))
}

/// Sends a call without headers.
pub(crate) fn call(client: &dyn Client, method: &str, target: &str, body: &str) -> Answer {
    send(client, method, target, &[], body)
}

pub(crate) fn draft(name: &str) -> String {
    serde_json::json!({"name": name, "type": "droid", "year": 1977}).to_string()
}

impl Server {
    pub(crate) fn call(&self, method: &str, target: &str, body: &str) -> Answer {
        call(&self.client(), method, target, body)
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.call("GET", target, "")
    }

    /// Adds a robot, which may be rejected.
    pub(crate) fn add(&self, name: &str) -> Answer {
        self.call("POST", "/api/robots", &draft(name))
    }

    /// The names of all robots.
    pub(crate) fn names(&self) -> Vec<String> {
        let robots = self.get("/api/robots");
        let robots: Vec<serde_json::Value> = serde_json::from_slice(&robots.body).unwrap();
        let names = robots.iter().map(|robot| robot["name"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    }

    /// Adds 20,000 robots, whose list has 20 MB: more than the buffers of a connection take.
    pub(crate) fn add_long_list(&self) {
        let long = "🤖".repeat(240);
        let mut robots = "name,type,year\n".to_owned();
        for number in 0..20_000 {
            writeln!(robots, "{number:05} {long},droid,1").unwrap();
        }
        let answer = self.call("POST", "/api/robots/import?format=csv", &robots);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

/// The entry of the token `robots_NAME` in the settings of a server, which permits writing.
pub(crate) fn token(name: &str) -> String {
    let token = AccessToken::of(&format!("robots_{name}"), Permission::Write);
    token.named(name.parse().unwrap()).to_string()
}
