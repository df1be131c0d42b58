//! Bodies and parameters. Extracting them never fails: they are judged after the key.

pub(super) use super::super::id_text::IdText;
use crate::context::Context;
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::wire::party::FromFields;
use lendpay_domain::page::Window;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseFromParameter, ParseResult, Type};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use std::borrow::Cow;
use std::marker::PhantomData;

/// A JSON body.
pub(super) struct Body<T> {
    is_json: bool,
    context: Context,
    kind: PhantomData<T>,
}

impl<T: FromFields> Body<T> {
    pub async fn read(&self) -> Result<T::Value, Failure> {
        let bytes = self.context.read_body().await?;
        if self.is_json { T::read(&bytes) } else { Err(Failure::UnsupportedMediaType) }
    }
}

impl<'a, T: Type> ApiExtractor<'a> for Body<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: Some("One JSON object. Fields that are not listed here are refused."),
            content: vec![MetaMediaType { content_type: "application/json", schema: T::schema_ref() }],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let is_json = super::super::create_buyer::is_json(request.headers());
        Ok(Self { is_json, context: Context::of(request)?, kind: PhantomData })
    }
}

/// A parameter as it was sent, with the schema of what it must be.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident: $schema:expr;)+) => {$(
        $(#[$doc])*
        pub(super) struct $name(pub String);

        impl Type for $name {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_ref() -> MetaSchemaRef {
                MetaSchemaRef::Inline(Box::new($schema))
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(self.as_raw_value().into_iter())
            }
        }

        impl ParseFromParameter for $name {
            fn parse_from_parameter(value: &str) -> ParseResult<Self> {
                Ok(Self(value.to_owned()))
            }
        }
    )+};
}

parameters! {
    /// How many items are wanted.
    Limit: MetaSchema {
        minimum: Some(1.0),
        maximum: Some(500.0),
        default: Some(100.into()),
        ..MetaSchema::new_with_format("integer", "int32")
    };
    /// Where a page begins.
    After: MetaSchema::new("string");
}

/// The window that two parameters ask for; `cursor` reads the first.
pub(super) fn window<C>(
    after: Option<&After>,
    limit: Option<&Limit>,
    cursor: impl Fn(&str) -> Option<C>,
) -> Result<Window<C>, Failure> {
    let mut problems = Vec::new();
    let after = after.and_then(|After(text)| {
        let cursor = cursor(text);
        if cursor.is_none() {
            problems.push("after: must be what an earlier answer gave".to_owned());
        }
        cursor
    });
    let wanted = limit.map_or(Some(100), |Limit(text)| text.parse().ok().filter(|limit| (1..=500).contains(limit)));
    match wanted {
        Some(limit) if problems.is_empty() => Ok(Window { after, limit }),
        Some(_) => Err(OperatorFailure::BadFields(problems).into()),
        None => {
            problems.push("limit: must be a whole number from 1 to 500".to_owned());
            Err(OperatorFailure::BadFields(problems).into())
        }
    }
}

/// One of each failure that parameters of a list can give.
pub(super) fn bad_window() -> Failure {
    OperatorFailure::BadFields(vec!["limit: must be a whole number from 1 to 500".to_owned()]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::KeyId;

    #[test]
    fn a_window_has_1_to_500_items() {
        let window = |after: Option<&str>, limit: Option<&str>| {
            let (after, limit) = (after.map(|text| After(text.to_owned())), limit.map(|text| Limit(text.to_owned())));
            window(after.as_ref(), limit.as_ref(), KeyId::parse).map(|window| window.limit)
        };
        assert_eq!(window(None, None), Ok(100));
        assert_eq!(window(None, Some("1")), Ok(1));
        assert_eq!(window(Some("3e7b118e-bb4c-4e4b-981d-a62526cbbdce"), Some("500")), Ok(500));
        for bad in ["", "0", "501", "-1", "1.0", "x", "99999999999999999999"] {
            assert!(window(None, Some(bad)).is_err(), "{bad}");
        }
        let Err(Failure::Operator(OperatorFailure::BadFields(problems))) = window(Some(""), Some("0")) else {
            panic!("refused")
        };
        assert_eq!(problems.len(), 2);
    }
}
