//! Bodies that say nothing.

use crate::context::Context;
use crate::failure::Failure;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

/// A body that may be anything, or nothing, up to the size limit.
pub(crate) struct Ignored(Context);

impl Ignored {
    /// Reads it, so that one that is too long or breaks off is refused.
    pub async fn read(&self) -> Result<(), Failure> {
        self.0.read_body().await.map(drop)
    }
}

impl<'a> ApiExtractor<'a> for Ignored {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: Some("Ignored; any body is accepted, and none."),
            content: vec![MetaMediaType {
                content_type: "application/json",
                schema: MetaSchemaRef::Inline(Box::new(MetaSchema {
                    example: Some(serde_json::json!({})),
                    ..MetaSchema::ANY
                })),
            }],
            required: false,
        })
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(Context::of(request)?))
    }
}
