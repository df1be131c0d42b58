//! The wire: what goes over HTTP, field by field, and its conversion to and from the domain.
//!
//! Wire types are written by serde and described by poem-openapi; a test holds the two against each other.

pub(crate) mod application;
pub(crate) mod backup;
pub(crate) mod buyer;
pub(crate) mod endpoint;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod fields;
pub(crate) mod health;
pub(crate) mod json;
pub(crate) mod offer;
pub(crate) mod offer_batch;
pub(crate) mod operation;
pub(crate) mod operator_buyer;
pub(crate) mod operator_offer;
pub(crate) mod page;
pub(crate) mod partner_event;
pub(crate) mod party;
pub(crate) mod time;
pub(crate) mod webhook;

/// Implements what poem-openapi's derives ask of a field type, for a type that serde reads and writes and that has a
/// schema of its own: `schema` is inlined, `named` is registered under a name and referred to.
macro_rules! wire_type {
    ($type:ty, $name:expr, schema: $schema:expr) => {
        $crate::wire::wire_type!(@impl $type, $name,
            poem_openapi::registry::MetaSchemaRef::Inline(Box::new($schema)), |_registry| {});
    };
    ($type:ty, $name:expr, named: $schema:expr) => {
        $crate::wire::wire_type!(@impl $type, $name,
            poem_openapi::registry::MetaSchemaRef::Reference($name.to_owned()),
            |registry: &mut poem_openapi::registry::Registry| {
                registry.create_schema::<Self, _>($name.to_owned(), |_| $schema);
            });
    };
    (@impl $type:ty, $name:expr, $reference:expr, $register:expr) => {
        impl poem_openapi::types::Type for $type {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
                $reference
            }

            fn register(registry: &mut poem_openapi::registry::Registry) {
                let register: fn(&mut poem_openapi::registry::Registry) = $register;
                register(registry);
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(self.as_raw_value().into_iter())
            }
        }

        impl poem_openapi::types::ToJSON for $type {
            fn to_json(&self) -> Option<serde_json::Value> {
                Some(serde_json::to_value(self).expect("wire types have names as keys"))
            }
        }

        impl poem_openapi::types::ParseFromJSON for $type {
            fn parse_from_json(value: Option<serde_json::Value>) -> poem_openapi::types::ParseResult<Self> {
                serde_json::from_value(value.unwrap_or_default()).map_err(poem_openapi::types::ParseError::custom)
            }
        }
    };
}
pub(crate) use wire_type;
