//! Applications as partners see them (contract 2.13).

use super::page::page_of;
use lendpay_domain::query;
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// An application of one of your customers.
#[derive(Debug, Object, Serialize)]
pub struct Application {
    /// The identifier of the application.
    pub id: Uuid,
}

impl From<query::Application> for Application {
    fn from(application: query::Application) -> Self {
        Self { id: application.id.uuid() }
    }
}

page_of! {
    Application,
    /// A page of your applications, in the order of their identifiers.
    ApplicationList
}
