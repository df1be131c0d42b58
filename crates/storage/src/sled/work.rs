//! What travels to the committer and back. Whatever can be prepared or read on the caller's thread is.

use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::KeyHash;
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::store::{
    AddKey, AddKeyOutcome, Answer, PutApplication, PutApplicationOutcome, PutPartner, PutPartnerOutcome,
    RevokeKeyOutcome, Stamp,
};
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId, StoreError, Timestamp};
use tokio::sync::oneshot;

use crate::records::{OfferHead, OfferState, Place};

/// An accept (of a partner) or another move (of the operator).
pub(super) struct Move {
    pub(super) partner: Option<PartnerId>,
    pub(super) application: ApplicationId,
    pub(super) offer: OfferId,
    pub(super) action: Action,
    pub(super) stamp: Stamp,
}

/// What became of it; the offer's terms are read by the caller's thread.
pub(super) enum Moved {
    Done(OfferState),
    Illegal(IllegalMove),
    NotFound,
}

/// A creation, its value sealed.
pub(super) struct Register {
    pub(super) partner: PartnerId,
    pub(super) id: BuyerId,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) value: Vec<u8>,
    pub(super) stamp: Stamp,
}

/// What became of it.
pub(super) enum Registered {
    Created,
    Replayed(Place),
    KeyReused,
}

/// New terms. The head is that of a new offer but for the partner, whom only the committer knows.
pub(super) struct Offering {
    pub(super) application: ApplicationId,
    pub(super) offer: OfferId,
    pub(super) head: OfferHead,
    pub(super) tail: Vec<u8>,
    pub(super) stamp: Stamp,
}

/// What became of them.
pub(super) enum Offered {
    Created(OfferHead),
    Replaced(OfferHead),
    Fixed(Status),
    NoApplication,
}

/// A key was used in a minute that begins `at`.
pub(super) struct KeyUse {
    pub(super) hash: KeyHash,
    pub(super) at: Timestamp,
}

/// A revocation, the key's hash found out.
pub(super) struct Revoke {
    pub(super) hash: KeyHash,
    pub(super) at: Timestamp,
}

pub(super) type Reply<T> = oneshot::Sender<Answer<T>>;

/// Names each command once, with what it takes and what it answers.
macro_rules! work {
    ($($name:ident($command:ty) -> $outcome:ty;)+) => {
        /// A command and where its answer goes.
        pub(super) enum Work {
            $($name($command, Reply<$outcome>),)+
        }

        impl Work {
            /// Tells the caller that there was too much to do, and nothing was done.
            pub(super) fn refuse(self) {
                match self {
                    $(Self::$name(_, reply) => drop(reply.send(Err(StoreError::Overloaded))),)+
                }
            }
        }

        /// An answer that waits for the sync.
        pub(super) enum Decided {
            $($name(Reply<$outcome>, Answer<$outcome>),)+
        }

        impl Decided {
            /// Tells the caller. Callers that have gone away are no concern of the store.
            pub(super) fn tell(self) {
                match self {
                    $(Self::$name(reply, answer) => drop(reply.send(answer)),)+
                }
            }

            /// Tells the caller that the store failed in the middle.
            pub(super) fn tell_unknown(self) {
                match self {
                    $(Self::$name(reply, _) => drop(reply.send(Err(StoreError::OutcomeUnknown))),)+
                }
            }
        }
    };
}

work! {
    Move(Move) -> Moved;
    Register(Register) -> Registered;
    Offer(Offering) -> Offered;
    Partner(PutPartner) -> PutPartnerOutcome;
    Key(AddKey) -> AddKeyOutcome;
    Revoke(Revoke) -> RevokeKeyOutcome;
    Application(PutApplication) -> PutApplicationOutcome;
    Use(KeyUse) -> ();
    Check(()) -> ();
}
