//! Endpoints of webhooks and the progress of deliveries, in lines. Secrets are not in them.

use super::records::NotARecord;
use crate::wire::time::Time;
use lendpay_domain::query::EventTypes;
use lendpay_domain::webhook::{
    Aside, Endpoint, EndpointUrl, Failed, InFlight, Lane, Noted, Owner, Problem, Secrets, State,
};
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, OfferId, PartnerId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndpointLine {
    id: Uuid,
    /// Null for the lender.
    partner_id: Option<Uuid>,
    url: String,
    types: Option<Vec<String>>,
    in_flight: u8,
    state: String,
    reason: Option<String>,
    created_at: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NotedLine {
    endpoint_id: Uuid,
    generation: u32,
    cursor: u64,
    last_success_at: Option<Time>,
    aside: Vec<AsideLine>,
    done: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AsideLine {
    sequence: u64,
    #[serde(flatten)]
    lane: LaneLine,
    failed: Option<FailedLine>,
}

/// What the event is in order for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum LaneLine {
    Offer { application_id: Uuid, offer_id: Uuid },
    Buyer(Uuid),
    Partner(Uuid),
    Endpoint(Uuid),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FailedLine {
    attempts: u32,
    first_at: Time,
    next_at: Time,
    problem: String,
    status: Option<u16>,
}

impl From<&Endpoint> for EndpointLine {
    fn from(endpoint: &Endpoint) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Endpoint { id, owner, url, types, in_flight, set, created_at, secrets: _ } = endpoint;
        let (state, reason) = set.names();
        Self {
            id: id.uuid(),
            partner_id: owner.partner().map(PartnerId::uuid),
            url: url.as_str().to_owned(),
            types: types.map(|types| types.names().map(str::to_owned).collect()),
            in_flight: in_flight.get(),
            state: state.to_owned(),
            reason: reason.map(str::to_owned),
            created_at: Time(*created_at),
        }
    }
}

impl EndpointLine {
    pub(super) fn endpoint(self) -> Result<Endpoint, NotARecord> {
        let types = self.types.map(|names| EventTypes::of_names(names.iter().map(String::as_str)).ok_or(NotARecord));
        Ok(Endpoint {
            id: EndpointId::new(self.id),
            owner: self.partner_id.map_or(Owner::Lender, |id| Owner::Partner(PartnerId::new(id))),
            url: EndpointUrl::parse(&self.url).map_err(|_| NotARecord)?,
            types: types.transpose()?,
            in_flight: InFlight::new(self.in_flight).ok_or(NotARecord)?,
            set: State::named(&self.state, self.reason.as_deref()).ok_or(NotARecord)?,
            created_at: self.created_at.0,
            secrets: Secrets::default(),
        })
    }
}

impl From<&Noted> for NotedLine {
    fn from(Noted { endpoint, generation, cursor, last_success_at, aside, done }: &Noted) -> Self {
        Self {
            endpoint_id: endpoint.uuid(),
            generation: *generation,
            cursor: *cursor,
            last_success_at: last_success_at.map(Time),
            aside: aside.iter().map(AsideLine::from).collect(),
            done: done.clone(),
        }
    }
}

impl NotedLine {
    pub(super) fn noted(self) -> Result<Noted, NotARecord> {
        Ok(Noted {
            endpoint: EndpointId::new(self.endpoint_id),
            generation: self.generation,
            cursor: self.cursor,
            last_success_at: self.last_success_at.map(|at| at.0),
            aside: self.aside.into_iter().map(AsideLine::aside).collect::<Result<_, _>>()?,
            done: self.done,
        })
    }
}

impl From<&Aside> for AsideLine {
    fn from(Aside { sequence, lane, failed }: &Aside) -> Self {
        let lane = match *lane {
            Lane::Offer(application, offer) => {
                LaneLine::Offer { application_id: application.uuid(), offer_id: offer.uuid() }
            }
            Lane::Buyer(id) => LaneLine::Buyer(id.uuid()),
            Lane::Partner(id) => LaneLine::Partner(id.uuid()),
            Lane::Endpoint(id) => LaneLine::Endpoint(id.uuid()),
        };
        let failed = failed.map(|Failed { attempts, first_at, next_at, problem }| {
            let (problem, status) = problem.names();
            let problem = problem.to_owned();
            FailedLine { attempts, first_at: Time(first_at), next_at: Time(next_at), problem, status }
        });
        Self { sequence: *sequence, lane, failed }
    }
}

impl AsideLine {
    fn aside(self) -> Result<Aside, NotARecord> {
        let lane = match self.lane {
            LaneLine::Offer { application_id, offer_id } => {
                Lane::Offer(ApplicationId::new(application_id), OfferId::new(offer_id))
            }
            LaneLine::Buyer(id) => Lane::Buyer(BuyerId::new(id)),
            LaneLine::Partner(id) => Lane::Partner(PartnerId::new(id)),
            LaneLine::Endpoint(id) => Lane::Endpoint(EndpointId::new(id)),
        };
        let failed = self.failed.map(|FailedLine { attempts, first_at, next_at, problem, status }| {
            let problem = Problem::named(&problem, status).ok_or(NotARecord)?;
            Ok(Failed { attempts, first_at: first_at.0, next_at: next_at.0, problem })
        });
        Ok(Aside { sequence: self.sequence, lane, failed: failed.transpose()? })
    }
}
