//! An authorization server that publishes the keys that it is told to, and counts who asks for them.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct State {
    keys: Vec<Value>,
    fetches: u64,
    /// Accepts connections and never answers; they are kept here, open.
    silent: bool,
    held: Vec<Box<dyn Connection>>,
}

/// A connection, with TLS or without.
trait Connection: Read + Write + Send {}

impl<C: Read + Write + Send> Connection for C {}

pub struct FakeIssuer {
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl FakeIssuer {
    pub fn start(keys: Vec<Value>) -> Self {
        Self::serve(keys, None)
    }

    /// Serves https as `localhost`.
    pub fn start_tls(keys: Vec<Value>, tls: rustls::ServerConfig) -> Self {
        Self::serve(keys, Some(Arc::new(tls)))
    }

    fn serve(keys: Vec<Value>, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        // With a path, since metadata of such an issuer is found in another way.
        let port = listener.local_addr().expect("an address").port();
        let url = match &tls {
            Some(_) => format!("https://localhost:{port}/tenant"),
            None => format!("http://127.0.0.1:{port}/tenant"),
        };
        let state = Arc::new(Mutex::new(State { keys, ..State::default() }));
        let (shared, issuer) = (Arc::clone(&state), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, issuer) = (Arc::clone(&shared), issuer.clone());
                let stream: Box<dyn Connection> = match &tls {
                    Some(tls) => {
                        let tls = rustls::ServerConnection::new(Arc::clone(tls)).expect("a TLS connection");
                        Box::new(rustls::StreamOwned::new(tls, stream))
                    }
                    None => Box::new(stream),
                };
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

fn answer(stream: Box<dyn Connection>, state: &Mutex<State>, issuer: &str) {
    let mut reader = BufReader::new(stream);
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
        state.held.push(reader.into_inner());
        return;
    }
    drop(state);
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let mut stream = reader.into_inner();
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).and_then(|()| stream.flush());
}
