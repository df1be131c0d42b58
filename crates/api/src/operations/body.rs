//! Bodies of requests. They are read and judged after the caller is authenticated.

use crate::context::Context;
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::wire::fields::Fields;
use crate::wire::party::FromFields;
use lendpay_domain::Timestamp;
use poem::http::{HeaderMap, header};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaMediaType, MetaRequest, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use std::marker::PhantomData;

/// What a body holds, for the document.
pub(crate) trait Payload: Type {
    /// The description of the body.
    const DESCRIPTION: &'static str;
    /// Whether it must be there.
    const REQUIRED: bool = true;
}

impl<T: FromFields + Type> Payload for T {
    const DESCRIPTION: &'static str = "One JSON object. Fields that are not listed here are refused.";
    const REQUIRED: bool = <T as FromFields>::REQUIRED;
}

/// A JSON body that describes a `T`.
pub(crate) struct Body<T> {
    is_json: bool,
    context: Context,
    kind: PhantomData<T>,
}

impl<T> Body<T> {
    /// The members of the body.
    pub async fn fields(&self) -> Result<Fields, Failure> {
        self.fields_of(&self.context.read_body().await?)
    }

    fn fields_of(&self, bytes: &[u8]) -> Result<Fields, Failure> {
        if self.is_json { Fields::of(bytes).map_err(Failure::BadBody) } else { Err(Failure::UnsupportedMediaType) }
    }
}

impl<T: FromFields> Body<T> {
    /// Reads what was sent to the operator's side at the moment `now`.
    pub async fn read(&self, now: Timestamp) -> Result<T::Value, Failure> {
        let bytes = self.context.read_body().await?;
        let mut fields = if bytes.is_empty() && !<T as FromFields>::REQUIRED {
            Fields::within("", Vec::new())
        } else {
            self.fields_of(&bytes)?
        };
        let value = T::read(&mut fields, now);
        fields.finish(value).map_err(|problems| OperatorFailure::BadFields(problems).into())
    }
}

/// Whether a Content-Type, if there is one, is JSON: `application/json`, or any `application/…+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return true };
    let Ok(value) = value.to_str() else { return false };
    let essence = value.split(';').next().expect("a split has a first part").trim().to_ascii_lowercase();
    essence.strip_prefix("application/").is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

impl<'a, T: Payload> ApiExtractor<'a> for Body<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: Some(T::DESCRIPTION),
            content: vec![MetaMediaType { content_type: "application/json", schema: T::schema_ref() }],
            required: T::REQUIRED,
        })
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self { is_json: is_json(request.headers()), context: Context::of(request)?, kind: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_json_whatever_its_parameters() {
        let json = |value: &str| {
            is_json(&HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().expect("a header value"))]))
        };
        assert!(is_json(&HeaderMap::new()));
        for value in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert!(json(value), "{value}");
        }
        for value in ["", "text/plain", "application/xml", "text/json", "application/x-www-form-urlencoded", "json"] {
            assert!(!json(value), "{value}");
        }
    }
}
