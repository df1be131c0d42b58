//! Who calls, and whether they may (contract 2.2).

use crate::context::Context;
use crate::failure::Failure;
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Area, KeyHash};
use lendpay_domain::{PartnerId, Store};
use poem::http::{HeaderMap, header};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

/// The header that carries an API key.
pub(crate) const KEY_HEADER: &str = "x-service-apikey";

/// What a request presents. Extracting it never fails, so that an operation decides in which order things are checked.
pub(crate) struct Credentials {
    key: Option<Result<KeyHash, Unreadable>>,
    bearer: bool,
}

/// The header is there more than once, or holds what no key holds.
#[derive(Clone, Copy)]
struct Unreadable;

impl Credentials {
    fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(KEY_HEADER).iter();
        let key = values.next().map(|value| match (value.to_str(), values.next()) {
            (Ok(text), None) => Ok(KeyHash::of(text)),
            _ => Err(Unreadable),
        });
        let bearer = headers.get(header::AUTHORIZATION).is_some();
        Self { key, bearer }
    }
}

/// A caller that may use an area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The partner that it acts for.
    pub partner: PartnerId,
    /// Who it is in events.
    pub actor: Actor,
}

/// Checks credentials, then the area. Notes the partner for the log. An API key decides when there is one.
pub(crate) async fn admit<S: Store>(
    store: &S,
    credentials: &Credentials,
    area: Area,
    context: &Context,
) -> Result<Caller, Failure> {
    let Some(presented) = credentials.key else {
        return Err(if credentials.bearer { Failure::InvalidToken } else { Failure::NoCredentials });
    };
    let hash = presented.map_err(|Unreadable| Failure::InvalidApiKey)?;
    let key = store.find_key(hash).await?.filter(|key| key.is_valid(context.at)).ok_or(Failure::InvalidApiKey)?;
    context.set_partner(key.partner);
    store.note_use(hash, context.at);
    if !key.areas.contains(area) {
        return Err(Failure::InsufficientScope(area));
    }
    Ok(Caller { partner: key.partner, actor: Actor::Key(key.id) })
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
