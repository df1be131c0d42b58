//! The scopes, and how the document tells of OAuth 2.0.

use lendpay_domain::key::Area;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaOAuthFlow, MetaOAuthFlows, MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, OAuthScopes};

/// The token URL of the document that no server serves.
const EXAMPLE_TOKEN_URL: &str = "https://auth.example/oauth/token";

/// What a token may be used for.
#[derive(Clone, Copy, OAuthScopes)]
pub(crate) enum Scope {
    /// Accept loan offers.
    #[oai(rename = "lending.offers.accept")]
    AcceptOffers,
    /// Create buyers.
    #[oai(rename = "payments.buyers.create")]
    CreateBuyers,
}

impl Scope {
    /// The scope that covers an area.
    pub const fn of(area: Area) -> Self {
        match area {
            Area::Lending => Self::AcceptOffers,
            Area::Payments => Self::CreateBuyers,
        }
    }

    /// The scope as tokens have it.
    pub fn text(self) -> &'static str {
        self.name()
    }
}

/// Tells in the document that a token suffices as well as a key. Takes nothing from the request: `Credentials` has
/// both.
pub(crate) struct OAuth2;

impl<'a> ApiExtractor<'a> for OAuth2 {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let flow = MetaOAuthFlow {
            authorization_url: None,
            token_url: Some(EXAMPLE_TOKEN_URL),
            refresh_url: None,
            scopes: Scope::meta(),
        };
        let scheme = MetaSecurityScheme {
            ty: "oauth2",
            description: Some(
                "A JWT access token (RFC 9068) of the operator's authorization server, sent as `Authorization: Bearer`. Ask \
                 the operator for a client id.",
            ),
            name: None,
            key_in: None,
            scheme: None,
            bearer_format: None,
            flows: Some(MetaOAuthFlows {
                implicit: None,
                password: None,
                client_credentials: Some(flow),
                authorization_code: None,
            }),
            openid_connect_url: None,
        };
        registry.create_security_scheme("OAuth2", scheme);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec!["OAuth2"]
    }

    async fn from_request(
        _request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self)
    }
}
