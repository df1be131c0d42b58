//! The scopes, and how the document tells of OAuth 2.0.

use lendpay_domain::key::{Access, Area, Areas};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaOAuthFlow, MetaOAuthFlows, MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, OAuthScopes};

/// The token URL of the document that no server serves.
const EXAMPLE_TOKEN_URL: &str = "https://auth.example/oauth/token";

/// What an operation needs, and a token may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, OAuthScopes)]
pub enum Scope {
    /// Accept loan offers.
    #[oai(rename = "lending.offers.accept")]
    AcceptOffers,
    /// Create buyers.
    #[oai(rename = "payments.buyers.create")]
    CreateBuyers,
    /// Decline loan offers.
    #[oai(rename = "lending.offers.decline")]
    DeclineOffers,
    /// Read applications and loan offers.
    #[oai(rename = "lending.offers.read")]
    ReadOffers,
    /// Read buyers, with bank details masked.
    #[oai(rename = "payments.buyers.read")]
    ReadBuyers,
    /// Read events of offers and of buyers.
    #[oai(rename = "events.read")]
    ReadEvents,
}

impl Scope {
    /// Every scope.
    pub(crate) const ALL: [Self; 6] = [
        Self::AcceptOffers,
        Self::CreateBuyers,
        Self::DeclineOffers,
        Self::ReadOffers,
        Self::ReadBuyers,
        Self::ReadEvents,
    ];

    /// The scope as tokens have it.
    pub(crate) fn text(self) -> &'static str {
        self.name()
    }

    /// The areas that it is a part of. A key needs one of them.
    pub(crate) fn areas(self) -> Areas {
        let areas = match self {
            Self::AcceptOffers | Self::DeclineOffers | Self::ReadOffers => &[Area::Lending][..],
            Self::CreateBuyers | Self::ReadBuyers => &[Area::Payments],
            Self::ReadEvents => &Area::ALL,
        };
        areas.iter().copied().collect()
    }

    /// The access that a key needs.
    pub(crate) const fn access(self) -> Access {
        match self {
            Self::AcceptOffers | Self::CreateBuyers | Self::DeclineOffers => Access::Full,
            Self::ReadOffers | Self::ReadBuyers | Self::ReadEvents => Access::Read,
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The scopes of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(u8);

impl Scopes {
    /// Whether `scope` is one of them.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
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
                "A JWT access token (RFC 9068, checked as RFC8725 says) of the operator's authorization server, sent as `Authorization: Bearer`. Ask \
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
