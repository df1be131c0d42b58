//! Endpoints of webhooks, and how far deliveries have come. The order of variants and fields is the format.

use super::{Time, times};
use crate::codec::CodecError;
use lendpay_domain::query::EventTypes;
use lendpay_domain::webhook::{
    Aside, Disabled, Endpoint, EndpointUrl, Failed, InFlight, Lane, Noted, Owner, Problem, Progress, Sealed, Secrets,
    State, Step, Webhook,
};
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, OfferId, PartnerId};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndpointRecord<'a> {
    id: [u8; 16],
    /// Absent for the lender.
    partner: Option<[u8; 16]>,
    url: &'a str,
    /// By name, so that the place of a type in the list of all is no format.
    #[serde(borrow)]
    types: Option<Vec<&'a str>>,
    in_flight: u8,
    set: StateCode,
    created_at: Time,
    current: Option<&'a [u8]>,
    former: Option<(&'a [u8], Time)>,
}

/// An endpoint with its progress, as the index holds it. A row has them in two columns.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WebhookRecord<'a> {
    #[serde(borrow)]
    endpoint: EndpointRecord<'a>,
    progress: Option<ProgressRecord>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgressRecord {
    generation: u32,
    cursor: u64,
    last_success_at: Option<Time>,
    aside: Vec<AsideRecord>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotedRecord {
    endpoint: [u8; 16],
    generation: u32,
    cursor: u64,
    last_success_at: Option<Time>,
    aside: Vec<AsideRecord>,
    done: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct AsideRecord {
    sequence: u64,
    lane: LaneRecord,
    failed: Option<FailedRecord>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FailedRecord {
    attempts: u32,
    first_at: Time,
    next_at: Time,
    problem: ProblemCode,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LaneRecord {
    Offer([u8; 16], [u8; 16]),
    Buyer([u8; 16]),
    Partner([u8; 16]),
    Endpoint([u8; 16]),
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum ProblemCode {
    Status(u16),
    Timeout,
    Name,
    Address,
    Connect,
    Tls,
    Broken,
    Secret,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum StateCode {
    Active,
    Paused,
    Gone,
    Failing,
    Deleted,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StepCode {
    Created,
    Updated,
    Paused,
    Resumed,
    SecretRotated,
    Disabled,
    Deleted,
}

/// Two enums that say the same.
macro_rules! same {
    ($($one:ident = $other:ident { $($name:ident $(($value:ident))?),+ })+) => {$(
        impl From<$one> for $other {
            fn from(value: $one) -> Self {
                match value {
                    $($one::$name $(($value))? => Self::$name $(($value))?,)+
                }
            }
        }

        impl From<$other> for $one {
            fn from(value: $other) -> Self {
                match value {
                    $($other::$name $(($value))? => Self::$name $(($value))?,)+
                }
            }
        }
    )+};
}

same! {
    Problem = ProblemCode { Status(status), Timeout, Name, Address, Connect, Tls, Broken, Secret }
    Step = StepCode { Created, Updated, Paused, Resumed, SecretRotated, Disabled, Deleted }
}

impl From<State> for StateCode {
    fn from(state: State) -> Self {
        match state {
            State::Active => Self::Active,
            State::Paused => Self::Paused,
            State::Disabled(Disabled::Gone) => Self::Gone,
            State::Disabled(Disabled::Failing) => Self::Failing,
            State::Deleted => Self::Deleted,
        }
    }
}

impl From<StateCode> for State {
    fn from(code: StateCode) -> Self {
        match code {
            StateCode::Active => Self::Active,
            StateCode::Paused => Self::Paused,
            StateCode::Gone => Self::Disabled(Disabled::Gone),
            StateCode::Failing => Self::Disabled(Disabled::Failing),
            StateCode::Deleted => Self::Deleted,
        }
    }
}

impl From<Lane> for LaneRecord {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Offer(application, offer) => Self::Offer(application.to_bytes(), offer.to_bytes()),
            Lane::Buyer(buyer) => Self::Buyer(buyer.to_bytes()),
            Lane::Partner(partner) => Self::Partner(partner.to_bytes()),
            Lane::Endpoint(endpoint) => Self::Endpoint(endpoint.to_bytes()),
        }
    }
}

impl From<LaneRecord> for Lane {
    fn from(lane: LaneRecord) -> Self {
        match lane {
            LaneRecord::Offer(application, offer) => {
                Self::Offer(ApplicationId::from_bytes(application), OfferId::from_bytes(offer))
            }
            LaneRecord::Buyer(buyer) => Self::Buyer(BuyerId::from_bytes(buyer)),
            LaneRecord::Partner(partner) => Self::Partner(PartnerId::from_bytes(partner)),
            LaneRecord::Endpoint(endpoint) => Self::Endpoint(EndpointId::from_bytes(endpoint)),
        }
    }
}

impl<'a> From<&'a Endpoint> for EndpointRecord<'a> {
    fn from(endpoint: &'a Endpoint) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Endpoint { id, owner, url, types, in_flight, set, created_at, secrets: Secrets { current, former } } =
            endpoint;
        Self {
            id: id.to_bytes(),
            partner: owner.partner().map(PartnerId::to_bytes),
            url: url.as_str(),
            types: types.map(|types| types.names().collect()),
            in_flight: in_flight.get(),
            set: (*set).into(),
            created_at: (*created_at).into(),
            current: current.as_ref().map(Sealed::bytes),
            former: former.as_ref().map(|(secret, end)| (secret.bytes(), (*end).into())),
        }
    }
}

impl TryFrom<EndpointRecord<'_>> for Endpoint {
    type Error = CodecError;

    fn try_from(record: EndpointRecord<'_>) -> Result<Self, CodecError> {
        let secret = |bytes: &[u8]| Sealed::new(bytes.to_vec()).ok_or(CodecError::Damaged);
        let former = record.former.map(|(bytes, end)| Ok((secret(bytes)?, end.try_into()?))).transpose()?;
        let types = record.types.map(|names| EventTypes::of_names(names).ok_or(CodecError::Damaged)).transpose()?;
        Ok(Self {
            id: EndpointId::from_bytes(record.id),
            owner: record.partner.map_or(Owner::Lender, |id| Owner::Partner(PartnerId::from_bytes(id))),
            url: EndpointUrl::parse(record.url).map_err(|_| CodecError::Damaged)?,
            types,
            in_flight: InFlight::new(record.in_flight).ok_or(CodecError::Damaged)?,
            set: record.set.into(),
            created_at: record.created_at.try_into()?,
            secrets: Secrets { current: record.current.map(secret).transpose()?, former },
        })
    }
}

impl<'a> From<&'a Webhook> for WebhookRecord<'a> {
    fn from(Webhook { endpoint, progress }: &'a Webhook) -> Self {
        Self { endpoint: endpoint.into(), progress: progress.as_ref().map(ProgressRecord::from) }
    }
}

impl TryFrom<WebhookRecord<'_>> for Webhook {
    type Error = CodecError;

    fn try_from(WebhookRecord { endpoint, progress }: WebhookRecord<'_>) -> Result<Self, CodecError> {
        Ok(Self { endpoint: endpoint.try_into()?, progress: progress.map(Progress::try_from).transpose()? })
    }
}

impl From<&Progress> for ProgressRecord {
    fn from(Progress { generation, cursor, last_success_at, aside }: &Progress) -> Self {
        Self {
            generation: *generation,
            cursor: *cursor,
            last_success_at: last_success_at.map(Time::from),
            aside: aside.values().map(AsideRecord::from).collect(),
        }
    }
}

impl TryFrom<ProgressRecord> for Progress {
    type Error = CodecError;

    fn try_from(record: ProgressRecord) -> Result<Self, CodecError> {
        let ProgressRecord { generation, cursor, last_success_at, aside } = record;
        let aside = aside.into_iter().map(|it| Ok((it.sequence, it.try_into()?))).collect::<Result<_, CodecError>>()?;
        Ok(Self { generation, cursor, last_success_at: times(last_success_at)?, aside })
    }
}

impl From<&Aside> for AsideRecord {
    fn from(Aside { sequence, lane, failed }: &Aside) -> Self {
        let failed = failed.map(|Failed { attempts, first_at, next_at, problem }| FailedRecord {
            attempts,
            first_at: first_at.into(),
            next_at: next_at.into(),
            problem: problem.into(),
        });
        Self { sequence: *sequence, lane: (*lane).into(), failed }
    }
}

impl TryFrom<AsideRecord> for Aside {
    type Error = CodecError;

    fn try_from(AsideRecord { sequence, lane, failed }: AsideRecord) -> Result<Self, CodecError> {
        let failed = failed.map(|FailedRecord { attempts, first_at, next_at, problem }| {
            let (first_at, next_at) = (first_at.try_into()?, next_at.try_into()?);
            Ok(Failed { attempts, first_at, next_at, problem: problem.into() })
        });
        Ok(Self { sequence, lane: lane.into(), failed: failed.transpose()? })
    }
}

impl From<&Noted> for NotedRecord {
    fn from(Noted { endpoint, generation, cursor, last_success_at, aside, done }: &Noted) -> Self {
        Self {
            endpoint: endpoint.to_bytes(),
            generation: *generation,
            cursor: *cursor,
            last_success_at: last_success_at.map(Time::from),
            aside: aside.iter().map(AsideRecord::from).collect(),
            done: done.clone(),
        }
    }
}

impl TryFrom<NotedRecord> for Noted {
    type Error = CodecError;

    fn try_from(record: NotedRecord) -> Result<Self, CodecError> {
        Ok(Self {
            endpoint: EndpointId::from_bytes(record.endpoint),
            generation: record.generation,
            cursor: record.cursor,
            last_success_at: times(record.last_success_at)?,
            aside: record.aside.into_iter().map(Aside::try_from).collect::<Result<_, _>>()?,
            done: record.done,
        })
    }
}
