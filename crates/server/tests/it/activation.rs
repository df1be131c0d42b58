//! Listening sockets that a service manager opens and keeps while the service restarts (sd_listen_fds(3)).

use crate::data::fill;
use crate::operator::KEY;
use crate::process::{BINARY, Process, Server, arguments, command};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

/// Starts the service with sockets as its descriptors 3 and 4. The shell gets them as its input and its output.
fn start(sockets: &[TcpListener; 2], data: &Path, more: &[&str]) -> Process {
    let [first, second] = sockets.each_ref().map(|socket| OwnedFd::from(socket.try_clone().expect("a copy")));
    let script = "exec 3<&0 4<&1 </dev/null >/dev/null; export LISTEN_PID=$$ LISTEN_FDS=2; exec \"$@\"";
    let mut bash = command("bash");
    bash.args(["-c", script, "bash", BINARY]).args(arguments(data).into_iter().filter(|argument| {
        // The port is that of a socket.
        argument != "--listen" && argument != "127.0.0.1:0"
    }));
    Process::spawn({
        bash.args(more).args(["--operator-key", KEY]).stdin(Stdio::from(first)).stdout(Stdio::from(second));
        bash
    })
}

fn sockets() -> ([TcpListener; 2], [String; 2]) {
    let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let addresses = sockets.each_ref().map(|socket| socket.local_addr().expect("an address").to_string());
    (sockets, addresses)
}

#[test]
fn a_restart_refuses_no_connection() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 3);
    let (sockets, [partners, operator]) = sockets();
    let more = ["--listen", &partners, "--operator-listen", &operator];
    let ask = |offer: usize| {
        let mut stream = TcpStream::connect(&partners).expect("a connection");
        let (path, key) = (data.accept_path(data.offers[offer]), &data.key);
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nX-Service-ApiKey: {key}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("a write");
        stream
    };
    let answer = |mut stream: TcpStream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    };
    // Before the first start, between two, and while one runs.
    let mut waiting = Some(ask(0));
    for n in 1..3 {
        let mut server = Server::ready(start(&sockets, directory.path(), &more));
        assert_eq!(server.address, partners);
        answer(waiting.take().expect("one waits"));
        answer(ask(n));
        let health = crate::process::client().get(format!("http://{operator}/health/live")).call();
        assert_eq!(health.expect("an answer").status(), 200);
        server.process.signal("TERM");
        server.process.wait_for("stopping");
        let (status, log) = server.process.wait();
        assert_eq!(status.code(), Some(0), "{log:#?}");
        waiting = Some(ask(0));
    }
}

/// Which side a socket is for is said by the settings, so that a wrong order opens nothing.
#[test]
fn a_socket_that_no_setting_names_stops_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let (given, [partners, operator]) = sockets();
    let mut server = Server::ready(start(&given, &data, &["--listen", &operator, "--operator-listen", &partners]));
    assert_eq!(server.address, operator);
    let process = &mut server.process;
    process.signal("TERM");
    process.wait_for("stopping");
    drop(server);

    std::fs::remove_dir_all(&data).expect("it goes");
    let process = start(&given, &data, &["--listen", "127.0.0.1:0", "--operator-listen", &operator]);
    let (status, log) = process.wait();
    assert_eq!(status.code(), Some(1), "{log:#?}");
    let last = log.last().expect("a sentence");
    assert!(last.contains(&partners) && last.contains("--listen"), "{last}");
    assert!(serde_json::from_str::<Value>(last).is_err() && !data.exists());
}
