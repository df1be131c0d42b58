//! An authorization server that publishes the keys that it is told to, and counts who asks for them.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct State {
    keys: Vec<Value>,
    fetches: u64,
    /// Accepts connections and never answers; they are kept here, open.
    silent: bool,
    held: Vec<TcpStream>,
}

pub struct FakeIssuer {
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl FakeIssuer {
    pub fn start(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        // With a path, since metadata of such an issuer is found in another way.
        let url = format!("http://{}/tenant", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State { keys, ..State::default() }));
        let (shared, issuer) = (Arc::clone(&state), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, issuer) = (Arc::clone(&shared), issuer.clone());
                std::thread::spawn(move || answer(stream, &state, &issuer));
            }
        });
        Self { url, state }
    }

    /// From now on it publishes these keys.
    pub fn publish(&self, keys: Vec<Value>) {
        self.state.lock().expect("unpoisoned").keys = keys;
    }

    /// From now on it accepts connections and says nothing.
    pub fn fall_silent(&self) {
        self.state.lock().expect("unpoisoned").silent = true;
    }

    /// How often its keys were asked for.
    pub fn fetches(&self) -> u64 {
        self.state.lock().expect("unpoisoned").fetches
    }
}

fn answer(stream: TcpStream, state: &Mutex<State>, issuer: &str) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut first = String::new();
    let mut line = String::new();
    // The client may have gone away.
    let _ = reader.read_line(&mut first);
    while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
        line.clear();
    }
    let mut state = state.lock().expect("unpoisoned");
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match path {
        "/keys" => {
            state.fetches += 1;
            ("200 OK", json!({ "keys": state.keys }))
        }
        "/tenant/.well-known/openid-configuration" => {
            let host = issuer.strip_suffix("/tenant").expect("the path");
            ("200 OK", json!({ "issuer": issuer, "jwks_uri": format!("{host}/keys") }))
        }
        _ => ("404 Not Found", Value::Null),
    };
    if state.silent {
        state.held.push(stream);
        return;
    }
    drop(state);
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = (&stream).write_all(format!("{head}{body}").as_bytes());
}
