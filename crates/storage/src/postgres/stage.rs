//! A group's rows in memory: what was loaded, what the commands make of it by the domain's rules, and what is to be written.

use super::order::Order;
use super::pool::Session;
use super::rows::{self, kept, split, split_some};
use super::statements as sql;
use super::trouble::Trouble;
use lendpay_domain::buyer::{Buyer, Description};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::life_cycle::Change;
use lendpay_domain::offer::{Offer, Status, Terms};
use lendpay_domain::store::Stamp;
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId, Timestamp};
use std::collections::BTreeMap;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Begins with the partner, as the table's key does.
pub(super) type OfferKey = (PartnerId, ApplicationId, OfferId);

pub(super) type BuyerKey = (PartnerId, BuyerId);

/// An offer of the group.
pub(super) struct StagedOffer {
    pub(super) offer: Offer,
    ordered_at: Timestamp,
    /// The status that the row has; none if there is no row yet.
    stored: Option<Status>,
    new_terms: bool,
}

impl StagedOffer {
    const fn key(&self) -> OfferKey {
        (self.offer.partner, self.offer.application, self.offer.id)
    }
}

/// A buyer of the group.
pub(super) struct StagedBuyer {
    pub(super) buyer: Buyer,
    pub(super) fingerprint: Option<Fingerprint>,
    stored: bool,
}

/// An event and the time that orders it until it has a number. It may have one already, from an import.
struct StagedEvent {
    event: Event,
    ordered_at: Timestamp,
}

pub(super) struct Stage<'a> {
    order: &'a Order,
    offers: BTreeMap<OfferKey, StagedOffer>,
    buyers: BTreeMap<BuyerKey, StagedBuyer>,
    events: Vec<StagedEvent>,
}

impl<'a> Stage<'a> {
    /// Loads the rows of a group, and holds the offers until the transaction ends.
    pub(super) async fn load(
        session: &Session,
        order: &'a Order,
        offers: &[OfferKey],
        buyers: &[BuyerKey],
    ) -> Result<Self, Trouble> {
        let mut stage = Self { order, offers: BTreeMap::new(), buyers: BTreeMap::new(), events: Vec::new() };
        let (partners, applications, ids) = columns3(offers.iter().copied());
        let keys: [&(dyn ToSql + Sync); 3] = [&partners, &applications, &ids];
        let (of, buyer_ids): (Vec<Uuid>, Vec<Uuid>) =
            buyers.iter().map(|(partner, buyer)| (partner.uuid(), buyer.uuid())).unzip();
        let buyer_keys: [&(dyn ToSql + Sync); 2] = [&of, &buyer_ids];
        let load_offers =
            async { if offers.is_empty() { Ok(Vec::new()) } else { session.rows(sql::LOAD_OFFERS, &keys).await } };
        let load_buyers = async {
            if buyers.is_empty() { Ok(Vec::new()) } else { session.rows(sql::LOAD_BUYERS, &buyer_keys).await }
        };
        // Sent one after the other without waiting in between.
        let (offer_rows, buyer_rows) = tokio::try_join!(biased; load_offers, load_buyers)?;
        for row in &offer_rows {
            let (offer, ordered_at) = rows::offer(row, 0)?;
            let staged = StagedOffer { stored: Some(offer.status), offer, ordered_at, new_terms: false };
            stage.offers.insert(staged.key(), staged);
        }
        for row in &buyer_rows {
            let (buyer, fingerprint) = rows::buyer(row, 0)?;
            stage.buyers.insert((buyer.partner, buyer.id), StagedBuyer { buyer, fingerprint, stored: true });
        }
        Ok(stage)
    }

    pub(super) fn offer(&self, key: &OfferKey) -> Option<&Offer> {
        self.offers.get(key).map(|staged| &staged.offer)
    }

    pub(super) fn buyer(&self, key: &BuyerKey) -> Option<&StagedBuyer> {
        self.buyers.get(key)
    }

    /// A new offer.
    pub(super) fn create_offer(&mut self, event: Event, offer: Offer) {
        let ordered_at = self.note(event, None);
        let staged = StagedOffer { offer, ordered_at, stored: None, new_terms: false };
        self.offers.insert(staged.key(), staged);
    }

    /// New terms for an offer that is Offered.
    pub(super) fn replace_terms(&mut self, key: &OfferKey, terms: Terms) {
        if let Some(staged) = self.offers.get_mut(key) {
            staged.offer.terms = terms;
            staged.new_terms = true;
        }
    }

    /// An offer that was loaded or created reaches another status.
    pub(super) fn move_offer(&mut self, key: &OfferKey, change: Change, event: Event) {
        let Some(before) = self.offers.get(key).map(|staged| staged.ordered_at) else { return };
        let ordered_at = self.note(event, Some(before));
        if let Some(staged) = self.offers.get_mut(key) {
            staged.offer.apply(change);
            staged.ordered_at = ordered_at;
        }
    }

    pub(super) fn create_buyer(
        &mut self,
        event: Event,
        description: Description,
        fingerprint: Option<Fingerprint>,
        id: BuyerId,
    ) {
        let buyer = Buyer { id, partner: event.partner, description, created_at: event.occurred_at };
        self.note(event, None);
        self.buyers.insert((buyer.partner, id), StagedBuyer { buyer, fingerprint, stored: false });
    }

    /// Adds an event, after the one `before` it of the same subject.
    fn note(&mut self, event: Event, before: Option<Timestamp>) -> Timestamp {
        let ordered_at = self.order.next(event.occurred_at, before);
        self.events.push(StagedEvent { event, ordered_at });
        ordered_at
    }

    /// How many events of each type there are.
    pub(super) fn events(&self) -> [usize; 7] {
        let mut counts = [0; 7];
        for staged in &self.events {
            counts[staged.event.subject.type_index()] += 1;
        }
        counts
    }

    /// Writes everything that is new.
    pub(super) async fn write(&self, session: &Session) -> Result<(), Trouble> {
        let changed = |staged: &&StagedOffer| staged.stored.is_some_and(|stored| stored != staged.offer.status);
        let new: Vec<_> = self.offers.values().filter(|staged| staged.stored.is_none()).collect();
        let moved: Vec<_> = self.offers.values().filter(changed).collect();
        let terms: Vec<_> = self.offers.values().filter(|staged| staged.stored.is_some() && staged.new_terms).collect();
        let buyers: Vec<_> = self.buyers.values().filter(|staged| !staged.stored).collect();
        // Sent one after the other without waiting in between. Terms first: they are only replaced while the offer is Offered.
        tokio::try_join!(
            biased;
            replace_terms(session, &terms),
            move_offers(session, &moved),
            insert_offers(session, &new),
            insert_buyers(session, &buyers),
            insert_events(session, &self.events),
        )?;
        Ok(())
    }

    /// Whether there is nothing to write.
    pub(super) fn is_unchanged(&self) -> bool {
        self.events.is_empty() && !self.offers.values().any(|staged| staged.new_terms)
    }
}

/// The event of a command.
pub(super) fn event(stamp: &Stamp, at: Timestamp, actor: Actor, partner: PartnerId, subject: Subject) -> Event {
    Event { sequence: 0, id: stamp.event, occurred_at: at, partner, subject, actor, operation: stamp.operation }
}

fn columns3(keys: impl Iterator<Item = OfferKey>) -> (Vec<Uuid>, Vec<Uuid>, Vec<Uuid>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for (partner, application, offer) in keys {
        columns.0.push(partner.uuid());
        columns.1.push(application.uuid());
        columns.2.push(offer.uuid());
    }
    columns
}

/// Fails, to be tried again, when somebody else was faster in spite of everything.
fn all_of(changed: usize, wanted: usize) -> Result<(), Trouble> {
    if changed == wanted { Ok(()) } else { Err(Trouble::Raced) }
}

async fn move_offers(session: &Session, staged: &[&StagedOffer]) -> Result<(), Trouble> {
    if staged.is_empty() {
        return Ok(());
    }
    let (partners, applications, ids) = columns3(staged.iter().map(|it| it.key()));
    let was: Vec<_> = staged.iter().map(|it| it.stored.map(Status::name)).collect();
    let status: Vec<_> = staged.iter().map(|it| it.offer.status.name()).collect();
    let (at, ns): (Vec<_>, Vec<_>) = staged.iter().map(|it| split(it.offer.status_changed_at)).unzip();
    let ordered_at: Vec<_> = staged.iter().map(|it| it.ordered_at).collect();
    let parameters: [&(dyn ToSql + Sync); 8] = [&partners, &applications, &ids, &was, &status, &at, &ns, &ordered_at];
    all_of(session.run(sql::UPDATE_STATUS, &parameters).await?, staged.len())
}

type Parameter<'a> = &'a (dyn ToSql + Sync);

/// The columns of terms, each an array.
struct TermColumns<'a> {
    details: Vec<std::borrow::Cow<'a, str>>,
    funding: Vec<&'static str>,
    kind: Vec<&'static str>,
    apr: Vec<rust_decimal::Decimal>,
    interest: Vec<Option<rust_decimal::Decimal>>,
    expiry: Vec<Option<Timestamp>>,
    expiry_ns: Vec<i16>,
    url: Vec<Option<std::borrow::Cow<'a, str>>>,
    amount: Vec<Option<rust_decimal::Decimal>>,
    duration: Vec<Option<&'static str>>,
}

impl<'a> TermColumns<'a> {
    fn of(staged: &[&'a StagedOffer]) -> Self {
        let terms = || staged.iter().map(|staged| &staged.offer.terms);
        let (expiry, expiry_ns) = terms().map(|terms| split_some(terms.expiry_at)).unzip();
        Self {
            details: terms().map(|terms| kept(terms.details.as_str())).collect(),
            funding: terms().map(|terms| terms.funding_type.name()).collect(),
            kind: terms().map(|terms| terms.offer_type.name()).collect(),
            apr: terms().map(|terms| terms.annual_percentage_rate.decimal()).collect(),
            interest: terms().map(|terms| terms.interest_rate.map(|rate| rate.decimal())).collect(),
            expiry,
            expiry_ns,
            url: terms().map(|terms| terms.redirect_url.as_ref().map(|url| kept(url.as_str()))).collect(),
            amount: terms().map(|terms| terms.amount.map(|amount| amount.decimal())).collect(),
            duration: terms().map(|terms| terms.duration.map(|duration| duration.name())).collect(),
        }
    }

    /// In the order of the table's columns.
    fn parameters(&self) -> [Parameter<'_>; 10] {
        let Self { details, funding, kind, apr, interest, expiry, expiry_ns, url, amount, duration } = self;
        [details, funding, kind, apr, interest, expiry, expiry_ns, url, amount, duration]
    }
}

async fn replace_terms(session: &Session, staged: &[&StagedOffer]) -> Result<(), Trouble> {
    if staged.is_empty() {
        return Ok(());
    }
    let (partners, applications, ids) = columns3(staged.iter().map(|it| it.key()));
    let terms = TermColumns::of(staged);
    let keys: [Parameter<'_>; 3] = [&partners, &applications, &ids];
    let parameters = [&keys[..], &terms.parameters()].concat();
    all_of(session.run(sql::UPDATE_TERMS, &parameters).await?, staged.len())
}

async fn insert_offers(session: &Session, staged: &[&StagedOffer]) -> Result<(), Trouble> {
    if staged.is_empty() {
        return Ok(());
    }
    let (partners, applications, ids) = columns3(staged.iter().map(|it| it.key()));
    let terms = TermColumns::of(staged);
    let status: Vec<_> = staged.iter().map(|it| it.offer.status.name()).collect();
    let (at, ns): (Vec<_>, Vec<_>) = staged.iter().map(|it| split(it.offer.status_changed_at)).unzip();
    let ordered_at: Vec<_> = staged.iter().map(|it| it.ordered_at).collect();
    let keys: [Parameter<'_>; 3] = [&partners, &applications, &ids];
    let state: [Parameter<'_>; 4] = [&status, &at, &ns, &ordered_at];
    let parameters = [&keys[..], &terms.parameters(), &state].concat();
    all_of(session.run(sql::INSERT_OFFERS, &parameters).await?, staged.len())
}

async fn insert_buyers(session: &Session, staged: &[&StagedBuyer]) -> Result<(), Trouble> {
    if staged.is_empty() {
        return Ok(());
    }
    let of = |field: fn(&Description) -> Option<&String>| -> Vec<_> {
        staged.iter().map(|it| field(&it.buyer.description).map(|text| kept(text))).collect()
    };
    macro_rules! of_account {
        ($field:ident) => {
            of(|description| description.bank_account.as_ref()?.$field.as_ref())
        };
    }
    let partners: Vec<_> = staged.iter().map(|it| it.buyer.partner.uuid()).collect();
    let ids: Vec<_> = staged.iter().map(|it| it.buyer.id.uuid()).collect();
    let kind: Vec<_> = staged.iter().map(|it| it.buyer.description.kind).collect();
    let has_account: Vec<_> = staged.iter().map(|it| it.buyer.description.bank_account.is_some()).collect();
    let fingerprint: Vec<_> = staged.iter().map(|it| it.fingerprint.map(|print| print.to_bytes().to_vec())).collect();
    let (at, ns): (Vec<_>, Vec<_>) = staged.iter().map(|it| split(it.buyer.created_at)).unzip();
    let (name, number, country) =
        (of(|it| it.name.as_ref()), of(|it| it.registration_number.as_ref()), of(|it| it.country_code.as_ref()));
    let (currency, account_name, sort_code) =
        (of_account!(currency_code), of_account!(account_name), of_account!(sort_code));
    let (account, bic) = (of_account!(account_number), of_account!(bic));
    let (account_type, iban) = (of_account!(account_type), of_account!(iban));
    let parameters: [&(dyn ToSql + Sync); 17] = [
        &partners,
        &ids,
        &name,
        &number,
        &country,
        &kind,
        &has_account,
        &currency,
        &account_name,
        &sort_code,
        &account,
        &bic,
        &account_type,
        &iban,
        &fingerprint,
        &at,
        &ns,
    ];
    all_of(session.run(sql::INSERT_BUYERS, &parameters).await?, staged.len())
}

async fn insert_events(session: &Session, staged: &[StagedEvent]) -> Result<(), Trouble> {
    if staged.is_empty() {
        return Ok(());
    }
    let events = || staged.iter().map(|staged| &staged.event);
    let partners: Vec<_> = events().map(|event| event.partner.uuid()).collect();
    let ids: Vec<_> = events().map(|event| event.id.uuid()).collect();
    let sequences: Vec<_> = events().map(|event| i64::try_from(event.sequence).ok().filter(|it| *it > 0)).collect();
    let (at, ns): (Vec<_>, Vec<_>) = events().map(|event| split(event.occurred_at)).unzip();
    let ordered_at: Vec<_> = staged.iter().map(|it| it.ordered_at).collect();
    let (mut applications, mut offers, mut statuses, mut buyers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for event in events() {
        let (offer, buyer) = match event.subject {
            Subject::Offer { application, offer, status } => (Some((application, offer, status)), None),
            Subject::Buyer(buyer) => (None, Some(buyer.uuid())),
        };
        applications.push(offer.map(|(application, ..)| application.uuid()));
        offers.push(offer.map(|(_, offer, _)| offer.uuid()));
        statuses.push(offer.map(|(.., status)| status.name()));
        buyers.push(buyer);
    }
    let actors: Vec<_> = events().map(|event| event.actor.to_string()).collect();
    let operations: Vec<_> = events().map(|event| Uuid::from_bytes(event.operation.to_bytes())).collect();
    let parameters: [&(dyn ToSql + Sync); 12] = [
        &partners,
        &ids,
        &sequences,
        &at,
        &ns,
        &ordered_at,
        &applications,
        &offers,
        &statuses,
        &buyers,
        &actors,
        &operations,
    ];
    all_of(session.run(sql::INSERT_EVENTS, &parameters).await?, staged.len())
}
