//! The ids in a path. Taking them never fails, so that a caller is authenticated before it learns that an id is
//! malformed.
//!
//! The document's parameters for them are made from the path's template, in `document::finish`.

use crate::context::{Context, Named};
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, OperationId, PartnerId};
use percent_encoding::percent_decode_str;
use poem::{FromRequest, Request, RequestBody};
use std::sync::OnceLock;

/// What paths name things by.
pub(crate) trait Id: Copy {
    /// Reads an id as it is written: a UUID of 36 characters; of an operation, 32 hexadecimal digits.
    fn parse(text: &str) -> Option<Self>;

    /// Where the shell looks for the id, if it is of something that a request is about.
    fn place(_: &Named) -> Option<&OnceLock<Self>> {
        None
    }
}

macro_rules! ids {
    ($($name:ident $(in $place:ident)?),+) => {$(
        impl Id for $name {
            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            $(fn place(named: &Named) -> Option<&OnceLock<Self>> {
                Some(&named.$place)
            })?
        }
    )+};
}

ids!(ApplicationId in application, BuyerId in buyer, EndpointId, KeyId, OfferId in offer, OperationId, PartnerId);

/// The id of a path with one; `None` if it is malformed.
pub(crate) struct PathId<A>(pub Option<A>);

/// The ids of a path with two.
pub(crate) struct PathIds<A, B>(pub Option<A>, pub Option<B>);

/// The path of an offer.
pub(crate) type OfferPath = PathIds<ApplicationId, OfferId>;

impl<A, B> PathIds<A, B> {
    /// Both ids, if neither is malformed.
    pub fn both(self) -> Option<(A, B)> {
        self.0.zip(self.1)
    }
}

/// Reads an id of the path of a page, and notes it.
pub(crate) fn id<A: Id>(request: &Request, name: &str) -> Option<A> {
    noted(request.data()?, A::parse(request.raw_path_param(name)?)?)
}

/// Reads an id of the path of an operation by its position, and notes it.
fn nth<A: Id>(request: &Request, n: usize) -> Option<A> {
    let context: &Context = request.data()?;
    let text = &request.uri().path()[context.found()?.ids.get(n)?.clone()];
    // Almost every id is written plainly.
    let decoded = || A::parse(&percent_decode_str(text).decode_utf8().ok()?);
    noted(context, A::parse(text).or_else(decoded)?)
}

fn noted<A: Id>(context: &Context, id: A) -> Option<A> {
    if let Some(place) = A::place(context.named()) {
        // A path names each thing once.
        let _ = place.set(id);
    }
    Some(id)
}

impl<'a, A: Id> FromRequest<'a> for PathId<A> {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(nth(request, 0)))
    }
}

impl<'a, A: Id, B: Id> FromRequest<'a> for PathIds<A, B> {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(nth(request, 0), nth(request, 1)))
    }
}
