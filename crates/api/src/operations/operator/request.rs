//! What a request to the operator's side presents. Extracting it never fails: [`Operator::admit`] judges it.

use super::parameters::window;
use super::{Context, Failure, Stamp};
use crate::operator_key::PresentedKey;
use lendpay_domain::page::Window;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaSecurityScheme, Registry};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

/// A request.
pub(crate) struct OperatorRequest {
    /// Its id and time.
    pub context: Context,
    /// The header with the key.
    pub key: PresentedKey,
    /// Names and values of its query.
    pub query: Vec<(String, String)>,
}

impl OperatorRequest {
    /// The operator's stamp on a command.
    pub fn stamp(&self) -> Stamp {
        self.context.stamp(self.context.actor().expect("only who is admitted gives commands"))
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The window that `after` and `limit` ask for; `cursor` reads the first.
    pub fn window<C>(&self, cursor: impl Fn(&str) -> Option<C>) -> Result<Window<C>, Failure> {
        window(self.parameter("after"), self.parameter("limit"), cursor)
    }
}

impl<'a> ApiExtractor<'a> for OperatorRequest {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        let scheme = MetaSecurityScheme {
            ty: "apiKey",
            description: Some(
                "The key of an operator: the single one that the service was started with, or one of those that its \
                 operators' file lists.",
            ),
            name: Some("X-Operator-Key"),
            key_in: Some("header"),
            scheme: None,
            bearer_format: None,
            flows: None,
            openid_connect_url: None,
        };
        registry.create_security_scheme("OperatorKey", scheme);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec!["OperatorKey"]
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let context = <Context as poem::FromRequest>::from_request(request, body).await?;
        let query = request.params().expect("any query is pairs of strings");
        Ok(Self { context, key: PresentedKey::of(request.headers()), query })
    }
}
