//! Answers with an entity tag, for whoever asks again (RFC 9110, sections 8.8.3 and 13.1.2).

use crate::negotiation::has_tag;
use crate::wire::json::Rendered;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use poem::http::header::IF_NONE_MATCH;
use poem::http::{HeaderMap, HeaderValue};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A body and its tag, which is strong: it is the digest of the bytes.
pub(crate) fn tagged<T: Serialize>(value: &T) -> (Rendered<T>, String) {
    let body = Rendered::new(value);
    let tag = format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(body.bytes())));
    (body, tag)
}

/// The header `If-None-Match`. Taking it never fails: what cannot be read is no tag of ours.
pub(crate) struct IfNoneMatch(HeaderMap);

impl IfNoneMatch {
    /// Whether the caller has the body with this tag already.
    pub fn has(&self, tag: &str) -> bool {
        has_tag(&self.0, tag)
    }
}

impl<'a> ApiExtractor<'a> for IfNoneMatch {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let lines = request.headers().get_all(IF_NONE_MATCH);
        Ok(Self(lines.into_iter().map(|line: &HeaderValue| (IF_NONE_MATCH, line.clone())).collect()))
    }
}
