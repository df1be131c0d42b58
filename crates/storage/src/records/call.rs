//! Calls that changed nothing.

use super::Time;
use crate::codec::CodecError;
use lendpay_domain::calls::Call;
use lendpay_domain::event::Actor;
use lendpay_domain::{ApplicationId, BuyerId, OfferId, OperationId, PartnerId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The actor is kept as events write it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallRecord<'a> {
    operation: [u8; 16],
    at: Time,
    method: &'a str,
    route: Option<&'a str>,
    application: Option<[u8; 16]>,
    offer: Option<[u8; 16]>,
    buyer: Option<[u8; 16]>,
    partner: Option<[u8; 16]>,
    actor: Option<String>,
    status: u16,
    error_code: Option<&'a str>,
    #[serde(borrow)]
    errors: Vec<&'a str>,
    duration: Duration,
}

impl CallRecord<'_> {
    /// Whether it is a call of this operation.
    pub(crate) fn is_of(&self, operation: OperationId) -> bool {
        self.operation == operation.to_bytes()
    }
}

impl<'a> From<&'a Call> for CallRecord<'a> {
    fn from(call: &'a Call) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Call {
            operation,
            at,
            method,
            route,
            application,
            offer,
            buyer,
            partner,
            actor,
            status,
            error_code,
            errors,
            duration,
        } = call;
        Self {
            operation: operation.to_bytes(),
            at: (*at).into(),
            method,
            route: route.as_deref(),
            application: application.map(ApplicationId::to_bytes),
            offer: offer.map(OfferId::to_bytes),
            buyer: buyer.map(BuyerId::to_bytes),
            partner: partner.map(PartnerId::to_bytes),
            actor: actor.as_ref().map(Actor::to_string),
            status: *status,
            error_code: error_code.as_deref(),
            errors: errors.iter().map(String::as_str).collect(),
            duration: *duration,
        }
    }
}

impl TryFrom<CallRecord<'_>> for Call {
    type Error = CodecError;

    fn try_from(record: CallRecord<'_>) -> Result<Self, CodecError> {
        let actor = record.actor.map(|actor| Actor::parse(&actor).ok_or(CodecError::Damaged)).transpose()?;
        Ok(Self {
            operation: OperationId::from_bytes(record.operation),
            at: record.at.try_into()?,
            method: record.method.to_owned(),
            route: record.route.map(str::to_owned),
            application: record.application.map(ApplicationId::from_bytes),
            offer: record.offer.map(OfferId::from_bytes),
            buyer: record.buyer.map(BuyerId::from_bytes),
            partner: record.partner.map(PartnerId::from_bytes),
            actor,
            status: record.status,
            error_code: record.error_code.map(str::to_owned),
            errors: record.errors.into_iter().map(str::to_owned).collect(),
            duration: record.duration,
        })
    }
}
