//! `ListWebhooks`: endpoints, everybody's or a partner's.

use super::super::filters::{Filters, PARTNER_ID};
use super::super::parameters::{AFTER, LIMIT, bad_window};
use super::*;
use crate::wire::endpoint::WebhookList;
use lendpay_domain::webhook::FindEndpoints;

pub(crate) struct ListWebhooksApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the endpoints.
    #[oai(status = 200)]
    Endpoints(Json<WebhookList>),
}

impl Operation for FindEndpoints {
    const ID: &'static str = "ListWebhooks";
    const QUERY: &'static [Parameter] = &[PARTNER_ID, AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window(), OperatorFailure::WebhooksOff.into()])
    }
}

#[OpenApi]
impl<S: Webhooks> ListWebhooksApi<S> {
    /// List webhook endpoints
    ///
    /// Those of the lender and of partners. Secrets are never shown.
    #[oai(path = "/operator/webhooks", method = "get", operation_id = "ListWebhooks", tag = "Tag::Webhooks")]
    pub async fn list_webhooks(&self, request: OperatorRequest) -> Result<Listed, Failed<FindEndpoints>> {
        let store = self.0.admit::<FindEndpoints>(&request)?;
        let mut filters = Filters::of::<FindEndpoints>(&request);
        let owner = filters.id(&PARTNER_ID).map(Owner::Partner);
        let window = filters.window(EndpointId::parse)?;
        self.0.webhooks()?;
        let page = store.find_endpoints(FindEndpoints { owner, window }).await?;
        Ok(Listed::Endpoints(Json(page.into())))
    }
}
