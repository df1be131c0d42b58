use super::*;
use crate::outgoing;
use crate::settings::Trust;
use lendpay_api::WebhookPayload;
use lendpay_domain::{EndpointId, EventId};
use lendpay_receiver::{Behaviour, Receiver};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECRET: &str = "whsec_TGVuZHBheSBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZXM=";
const HERE: &str = "127.0.0.1/32";

/// A sender that trusts a receiver, and may reach these ranges besides the Internet.
fn sender(receiver: &Receiver, lookup: Lookup, allowed: &[&str]) -> Sender {
    let tls = outgoing::tls(&Trust { ca: Some(receiver.authority()) }).expect("certificates");
    let allowed = allowed.iter().map(|range| range.parse().expect("a range")).collect();
    Sender::new(tls, lookup, allowed, false, Duration::from_secs(2))
}

/// Sends an event that the receiver can verify.
async fn send(sender: &Sender, url: &str) -> Result<u16, Problem> {
    #[expect(clippy::disallowed_methods, reason = "the receiver compares it with the system's time")]
    let now = chrono::Utc::now();
    let payload = WebhookPayload::test(EndpointId::from_bytes([9; 16]), EventId::from_bytes([7; 16]), now);
    let headers = payload.headers(now, &[b"Lendpay example secret, 32 bytes"]);
    let url = EndpointUrl::parse(url).expect("an address");
    sender.send(&url, headers, payload.body, now, Duration::MAX).await.map(|answer| answer.status.as_u16())
}

/// A name that has these addresses, one after the other.
fn lookup(addresses: &'static [[u8; 4]]) -> Lookup {
    let asked = AtomicUsize::new(0);
    Arc::new(move |_| {
        let n = asked.fetch_add(1, Ordering::SeqCst).min(addresses.len() - 1);
        std::future::ready(Ok(vec![Ipv4Addr::from(addresses[n]).into()])).boxed()
    })
}

#[tokio::test]
async fn nothing_is_sent_to_an_address_within_a_network() {
    let receiver = Receiver::start();
    receiver.expect("a", &[SECRET], Behaviour::Takes);
    let (port, sender) = (receiver.address().port(), sender(&receiver, system_lookup(), &[]));
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0177.0.0.1",
        "017700000001",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00::1]",
        "[ff02::1]",
        "224.0.0.1",
        "192.0.2.1",
        "255.255.255.255",
    ] {
        assert_eq!(send(&sender, &format!("https://{host}:{port}/a")).await, Err(Problem::Address), "{host}");
    }
    assert_eq!((receiver.connections(), receiver.received("a").len()), (0, 0));
}

#[tokio::test]
async fn a_name_is_judged_by_its_address_at_each_connection() {
    let public = Receiver::start();
    let private = Receiver::start_at((Ipv4Addr::new(127, 0, 0, 2), public.address().port()).into());
    public.expect("a", &[SECRET], Behaviour::Resets);
    // 127.0.0.1 stands for an address of the Internet.
    let sender = sender(&public, lookup(&[[127, 0, 0, 1], [127, 0, 0, 2]]), &[HERE]);
    let url = format!("https://localhost:{}/a", public.address().port());
    assert_eq!(send(&sender, &url).await, Err(Problem::Broken));
    assert_eq!(public.received("a").len(), 1);
    for _ in 0..3 {
        assert_eq!(send(&sender, &url).await, Err(Problem::Address));
    }
    assert_eq!((public.connections(), private.connections()), (1, 0));
}

#[tokio::test]
async fn of_several_addresses_only_those_that_are_allowed_are_connected_to() {
    let receiver = Receiver::start();
    receiver.expect("a", &[SECRET], Behaviour::Takes);
    let both = || async { Ok(vec![Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::LOCALHOST.into()]) }.boxed();
    let sender = sender(&receiver, Arc::new(move |_| both()), &[HERE]);
    assert_eq!(send(&sender, &format!("https://localhost:{}/a", receiver.address().port())).await, Ok(200));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let receiver = Receiver::start();
    let sender = sender(&receiver, system_lookup(), &[HERE]);
    for status in [301, 302, 303, 307, 308] {
        receiver.expect("a", &[SECRET], Behaviour::Answers(status, 0));
        assert_eq!(send(&sender, &receiver.url("a")).await, Ok(status));
    }
    assert_eq!(receiver.unverified(), 0);
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_bound_and_a_short_one_keeps_the_connection() {
    let receiver = Receiver::start();
    let sender = sender(&receiver, system_lookup(), &[HERE]);
    for (behaviour, connections) in [(Behaviour::Takes, 1), (Behaviour::Takes, 1), (Behaviour::Long, 1)] {
        receiver.expect("a", &[SECRET], behaviour);
        assert_eq!(send(&sender, &receiver.url("a")).await, Ok(200));
        assert_eq!(receiver.connections(), connections);
    }
    assert_eq!(send(&sender, &receiver.url("a")).await, Ok(200));
    assert_eq!((receiver.connections(), receiver.received("a").len()), (2, 4));
}

#[tokio::test]
async fn each_way_to_fail_has_its_name() {
    let (receiver, other) = (Receiver::start(), Receiver::start());
    let trusting = sender(&receiver, system_lookup(), &[HERE]);
    receiver.expect("a", &[SECRET], Behaviour::Hangs);
    assert_eq!(send(&trusting, &receiver.url("a")).await, Err(Problem::Timeout));
    receiver.behave("a", Behaviour::Resets);
    assert_eq!(send(&trusting, &receiver.url("a")).await, Err(Problem::Broken));
    assert_eq!(send(&trusting, &other.url("a")).await, Err(Problem::Tls));
    receiver.refuse(1);
    assert_eq!(send(&trusting, &receiver.url("a")).await, Err(Problem::Connect));
    // Without TLS nothing is sent.
    let plain = receiver.url("a").replace("https", "http");
    assert!(send(&trusting, &plain).await.is_err());
    let nowhere = sender(&receiver, Arc::new(|_| async { Err(io::ErrorKind::NotFound.into()) }.boxed()), &[]);
    assert_eq!(send(&nowhere, "https://no.example/").await, Err(Problem::Name));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    assert_eq!(send(&trusting, &format!("https://{closed}/a")).await, Err(Problem::Connect));
}

#[test]
fn what_an_endpoint_asks_for_is_seconds_or_a_date() {
    let now = Timestamp::from_timestamp(784_111_700, 0).expect("a time");
    let asked = |text: &str| retry_after(&Response::builder().header(RETRY_AFTER, text).body(()).expect("good"), now);
    assert_eq!(asked("120"), Some(Duration::from_secs(120)));
    assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(77)));
    assert_eq!(asked("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
    for text in ["", "-1", "1.5", "soon"] {
        assert_eq!(asked(text), None, "{text}");
    }
}
