//! Who calls, and whether they may (contract 2.2).

use crate::context::Context;
use crate::failure::Failure;
use crate::rate_limit::Limiter;
use crate::tokens::scheme::{Scope, Scopes};
use crate::tokens::{Refusal, Tokens};
use crate::turns::Turns;
use lendpay_domain::PartnerId;
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, ApiKey, Area, Areas, KeyHash};
use lendpay_domain::store::{Commands, Queries};
use poem::http::{HeaderMap, HeaderName, header};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use std::sync::Arc;

/// The header that carries an API key.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-apikey");

/// What a request presents. Extracting it never fails, so that an operation decides in which order things are checked.
pub(crate) struct Credentials {
    key: Option<Result<PresentedKey, Unreadable>>,
    token: Option<Result<Token, Unreadable>>,
}

/// The header is there more than once, or holds what no key or token holds.
#[derive(Clone, Copy)]
struct Unreadable;

/// An API key that somebody presents.
#[derive(Clone, Copy)]
struct PresentedKey {
    hash: KeyHash,
    /// Whether it looks like a key of a sandbox.
    of_sandbox: bool,
}

/// A bearer token. It has no `Debug`, so that it gets into no log by accident.
struct Token(Box<str>);

impl Credentials {
    fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(KEY_HEADER).iter();
        let key = values.next().map(|value| match (value.to_str(), values.next()) {
            (Ok(text), None) => {
                Ok(PresentedKey { hash: KeyHash::of(text), of_sandbox: text.starts_with(ApiKey::SANDBOX_PREFIX) })
            }
            _ => Err(Unreadable),
        });
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let token = values.next().map(|value| match (value.to_str(), values.next()) {
            (Ok(text), None) => Token::of(text).ok_or(Unreadable),
            _ => Err(Unreadable),
        });
        Self { key, token }
    }
}

impl Token {
    /// The token of RFC 6750, section 2.1. The scheme's name may be in any case (RFC 9110, section 11.1).
    fn of(header: &str) -> Option<Self> {
        let (scheme, token) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| Self(token.trim().into()))
    }
}

/// A caller that may do what it asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The partner that it acts for.
    pub partner: PartnerId,
    /// Who it is in events.
    pub actor: Actor,
    /// What it may see events of: the areas of its key. A token with the scope for events may see all.
    pub areas: Areas,
}

/// What decides who gets in.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    /// OAuth 2.0; without it every token is refused.
    pub tokens: Option<Arc<Tokens>>,
    /// How often partners may call; without it as often as they like.
    pub limiter: Option<Arc<Limiter>>,
    /// How many of a partner's requests are worked on at once.
    pub turns: Arc<Turns>,
    /// A sandbox takes keys of sandboxes, and no others; every other service takes no key of a sandbox.
    pub of_sandbox: bool,
}

/// Who a caller is, before it is asked what it may do.
struct Known {
    caller: Caller,
    rights: Rights,
}

/// What a caller may do.
enum Rights {
    Key(Areas, Access),
    Token(Scopes),
}

impl Gate {
    /// Checks credentials, then the rate, then the area and the scope (contract 2.6). Notes the partner, and what it
    /// has left.
    pub async fn admit<S: Commands + Queries>(
        &self,
        store: &S,
        credentials: &Credentials,
        scope: Scope,
        context: &Context,
    ) -> Result<Caller, Failure> {
        let known = self.authenticate(store, credentials, context).await;
        let Some(limiter) = &self.limiter else { return known?.into(scope) };
        match known {
            Ok(known) => {
                let (allowance, verdict) = limiter.count(known.caller.partner).await?;
                context.set_allowance(allowance);
                if verdict.is_err() {
                    self.turns.refuse(known.caller.partner, context.crowd()).await;
                }
                verdict.and_then(|()| known.into(scope))
            }
            Err(failure) => {
                if failure.is_unauthenticated() {
                    limiter.failures.count(context.peer)?;
                }
                Err(failure)
            }
        }
    }

    /// Checks the credentials of a caller again that was admitted and has waited since: its key may be revoked.
    pub async fn check_again<S: Commands + Queries>(
        &self,
        store: &S,
        credentials: &Credentials,
        context: &Context,
    ) -> Result<(), Failure> {
        self.authenticate(store, credentials, context).await.map(drop)
    }

    /// An API key decides when there is one.
    async fn authenticate<S: Commands + Queries>(
        &self,
        store: &S,
        credentials: &Credentials,
        context: &Context,
    ) -> Result<Known, Failure> {
        let Some(presented) = credentials.key else {
            let presented = credentials.token.as_ref().ok_or(Failure::NoCredentials)?;
            let token = presented.as_ref().map_err(|Unreadable| Failure::InvalidToken)?;
            return holder_of(store, self.tokens.as_deref().ok_or(Failure::InvalidToken)?, token, context).await;
        };
        let PresentedKey { hash, of_sandbox } = presented.map_err(|Unreadable| Failure::InvalidApiKey)?;
        if of_sandbox != self.of_sandbox {
            return Err(Failure::InvalidApiKey);
        }
        let key = store.find_key(hash).await?.filter(|key| key.is_valid(context.at)).ok_or(Failure::InvalidApiKey)?;
        let caller = Caller { partner: key.partner, actor: Actor::Key(key.id), areas: key.areas };
        context.set_partner(caller.partner);
        context.set_actor(caller.actor);
        store.note_use(hash, context.at);
        Ok(Known { caller, rights: Rights::Key(key.areas, key.access) })
    }
}

impl Known {
    fn into(self, scope: Scope) -> Result<Caller, Failure> {
        match self.rights {
            Rights::Key(areas, _) if !scope.areas().iter().any(|area| areas.contains(area)) => {
                Err(Failure::InsufficientScope(scope))
            }
            Rights::Key(_, Access::Read) if scope.access() == Access::Full => Err(Failure::ReadOnlyKey),
            Rights::Token(scopes) if !scopes.contains(scope) => Err(Failure::MissingScope(scope)),
            Rights::Key(..) | Rights::Token(_) => Ok(self.caller),
        }
    }
}

/// Checks a token, whose client must be a partner's.
async fn holder_of(store: &impl Queries, tokens: &Tokens, token: &Token, context: &Context) -> Result<Known, Failure> {
    let refused = |refusal: Refusal| {
        tracing::debug!(operation = %context.operation, reason = %refusal, "a token is not accepted");
        Failure::InvalidToken
    };
    let verified = tokens.verify(&token.0, context.at).await.map_err(refused)?;
    let partner = store.find_client(&verified.client).await?.ok_or_else(|| refused(Refusal::NoPartner))?;
    let caller = Caller { partner, actor: Actor::OAuthClient, areas: Area::ALL.into_iter().collect() };
    context.set_partner(partner);
    context.set_actor(caller.actor);
    Ok(Known { caller, rights: Rights::Token(verified.scopes) })
}

impl<'a> ApiExtractor<'a> for Credentials {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let scheme = MetaSecurityScheme {
            ty: "apiKey",
            description: Some(
                "An API key that the operator hands out. It belongs to one partner and names the areas (lending, \
                 payments) that it may be used for.",
            ),
            name: Some("X-Service-ApiKey"),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        };
        registry.create_security_scheme("ApiKey", scheme);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec!["ApiKey"]
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self::of(request.headers()))
    }
}
