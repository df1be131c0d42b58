//! A store with partners that have OAuth clients, and the binary serving it.

use crate::process::{BINARY, Process, Reply, Server, arguments, client, command, post};
use lendpay_api::event_id;
use lendpay_domain::command::{AddKey, PutApplication, PutOffer, PutPartner, Stamp};
use lendpay_domain::decimal::Rate;
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, ApiKey, Area, KeyRecord};
use lendpay_domain::offer::{Details, FundingType, OfferType, Terms};
use lendpay_domain::store::Commands as _;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::path::Path;
use tempfile::TempDir;
use uuid::Uuid;

/// What tokens for the service under test name in `aud`.
pub const AUDIENCE: &str = "https://api.lender.example";

/// Where buyers are created.
pub const BUYERS: &str = "/payments/buyers";

/// The service, with a partner for each client.
pub struct Service {
    pub server: Server,
    /// The path that accepts the offer of each client's partner.
    pub offers: Vec<String>,
    /// An API key of the first partner.
    pub key: String,
    _data: TempDir,
}

impl Service {
    /// Serves partners with these client ids; `more` are further arguments.
    pub fn start(clients: &[&str], more: &[&str]) -> Self {
        Self::start_in(clients, more, &[])
    }

    /// Serves with variables in its environment.
    pub fn start_in(clients: &[&str], more: &[&str], variables: &[(&str, &Path)]) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let (offers, key) = fill(data.path(), clients);
        let mut command = command(BINARY);
        command.args(arguments(data.path())).args(more).envs(variables.iter().copied());
        Self { server: Server::ready(Process::spawn(command)), offers, key, _data: data }
    }

    /// Serves with the tokens of an issuer, whose keys it has.
    pub fn with_issuer(clients: &[&str], issuer: &str, more: &[&str]) -> Self {
        let token_url = format!("{issuer}/token");
        let mut arguments =
            vec!["--oauth-issuer", issuer, "--oauth-audience", AUDIENCE, "--oauth-token-url", &token_url];
        arguments.extend(more);
        Self::start(clients, &arguments)
    }

    /// Waits until the issuer's keys have been fetched and are not those of before.
    pub fn wait_for_keys(&mut self) {
        self.server.process.wait_for("the issuer has new keys");
    }

    pub fn post(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        post(&client(), &self.server.address, path, headers, "{}").expect("an answer")
    }

    /// Calls an operation with a token.
    pub fn post_with(&self, path: &str, token: &str) -> Reply {
        self.post(path, &[("authorization", &format!("Bearer {token}"))])
    }

    /// A token is accepted by both operations, or refused by both in the shape that each has.
    pub fn accepts(&self, token: &str) -> bool {
        let headers = [("authorization", format!("Bearer {token}"))];
        self.accepts_headers(&headers.each_ref().map(|(name, value)| (*name, value.as_str())))
    }

    /// Like [`accepts`](Self::accepts), with headers as they are.
    pub fn accepts_headers(&self, headers: &[(&str, &str)]) -> bool {
        let (accept, create) = (self.post(&self.offers[0], headers), self.post(BUYERS, headers));
        if (accept.status, create.status) == (200, 201) {
            return true;
        }
        for (reply, code) in [(accept, Some("InvalidToken")), (create, None)] {
            assert_eq!(reply.status, 401, "{}", reply.body);
            assert_eq!(reply.body.get("errorCode").and_then(|code| code.as_str()), code, "{}", reply.body);
            let challenge = reply.headers["www-authenticate"].to_str().expect("text");
            assert_eq!(challenge, "Bearer realm=\"lendpay\", error=\"invalid_token\"");
            assert_eq!(reply.headers["access-control-allow-origin"], "*");
            assert_eq!(reply.body["operationId"], reply.headers["x-request-id"].to_str().expect("text"));
        }
        false
    }
}

/// Fills the store in a directory; returns the paths that accept the partners' offers, and a key of the first partner.
fn fill(path: &Path, clients: &[&str]) -> (Vec<String>, String) {
    let store = EmbeddedStore::open(path, EmbeddedOptions::default()).expect("the store opens");
    let at = Timestamp::from_timestamp(1_700_000_000, 0).expect("in range");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let name = || Name::parse("Test").expect("a name");
    let key = ApiKey::from_random([7; 32]);
    let operation = OperationId::from_bytes([1; 16]);
    let stamp = || Stamp { at, event: event_id(), actor: Actor::Operator, operation };
    let mut offers = Vec::new();
    runtime.block_on(async {
        for (n, client) in (1..).zip(clients) {
            let id = Uuid::from_u128(n);
            let (partner, application, offer) = (PartnerId::new(id), ApplicationId::new(id), OfferId::new(id));
            let oauth_client_id = Some((*client).to_owned());
            let put = PutPartner { id: partner, name: name(), oauth_client_id, stamp: stamp() };
            store.run(put).await.expect("a partner");
            store.run(PutApplication { id: application, partner, stamp: stamp() }).await.expect("an application");
            let terms = Terms {
                details: Details::parse("A test").expect("short"),
                funding_type: FundingType::TermLoan,
                offer_type: OfferType::Underwritten,
                annual_percentage_rate: Rate::from_f64(0.09).expect("a rate"),
                interest_rate: None,
                expiry_at: None,
                redirect_url: None,
                amount: None,
                duration: None,
            };
            store.run(PutOffer { application, offer, terms, stamp: stamp() }).await.expect("an offer");
            offers.push(format!("/lending/applications/{application}/offers/{offer}/accept"));
        }
        let record = KeyRecord {
            id: KeyId::new(Uuid::from_u128(1)),
            partner: PartnerId::new(Uuid::from_u128(1)),
            hash: key.hash(),
            name: name(),
            areas: Area::ALL.into_iter().collect(),
            access: Access::Full,
            created_at: at,
            expires_at: None,
            revoked_at: None,
        };
        store.run(AddKey { key: record, stamp: stamp() }).await.expect("a key");
    });
    (offers, key.reveal().to_owned())
}
