//! An id in a path. Taking it never fails, so that a caller is authenticated before it learns that an id is malformed.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{ParseFromParameter, ParseResult, Type};
use std::borrow::Cow;

/// The text of an id, described as a UUID.
pub(crate) struct IdText(pub String);

impl Type for IdText {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "string_uuid".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "uuid")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl ParseFromParameter for IdText {
    fn parse_from_parameter(value: &str) -> ParseResult<Self> {
        Ok(Self(value.to_owned()))
    }
}
