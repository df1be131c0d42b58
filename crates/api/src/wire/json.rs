//! A JSON body that serde writes.
//!
//! poem-openapi's own `Json` builds a tree of values first and names its content `application/json; charset=utf-8`,
//! which is no key that generators know.

use poem::http::{HeaderValue, header};
use poem::{IntoResponse, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use serde::Serialize;
use std::marker::PhantomData;

/// A response body.
pub(crate) struct Json<T>(pub T);

impl<T: Type> Payload for Json<T> {
    const CONTENT_TYPE: &'static str = "application/json";

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Serialize + Send> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        Rendered::new(&self.0).into_response()
    }
}

/// How many bytes an offer or a buyer takes, as a rule.
const ROOM: usize = 1024;

/// A response body whose bytes are there already.
pub(crate) struct Rendered<T> {
    bytes: Vec<u8>,
    kind: PhantomData<fn() -> T>,
}

impl<T: Serialize> Rendered<T> {
    /// Writes a body.
    pub fn new(value: &T) -> Self {
        let mut bytes = Vec::with_capacity(ROOM);
        serde_json::to_writer(&mut bytes, value).expect("wire types hold strings, numbers and lists of these");
        Self { bytes, kind: PhantomData }
    }
}

impl<T> Rendered<T> {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<T: Type> Payload for Rendered<T> {
    const CONTENT_TYPE: &'static str = <Json<T> as Payload>::CONTENT_TYPE;

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T> IntoResponse for Rendered<T> {
    fn into_response(self) -> Response {
        let mut response: Response = self.bytes.into();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}
