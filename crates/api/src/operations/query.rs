//! The query of a request, the same for partners and for the operator. Taking it never fails, so that a caller is authenticated
//! first; each side has its own failure for what is wrong with it.
//!
//! What an operation does not know is refused, and so is what is there twice: a filter that is misspelt and ignored would
//! answer with everything, and nobody would notice. `AcceptOffer`, `CreateBuyer` and `DeclineOffer` have no parameters and
//! ignore all, as they always have.

use super::{Operation, Parameter, parameters};
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::side::Shape;
use crate::wire::fields::unknown;
use lendpay_domain::page::Window;
use poem::{FromRequest, Request, RequestBody};
use std::fmt::Display;

/// Names and values.
pub(crate) struct Query(Vec<(String, String)>);

impl<'a> FromRequest<'a> for Query {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self(request.params().expect("any query is pairs of strings")))
    }
}

impl Query {
    /// A query of these names and values.
    pub const fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The parameters of an operation, to be read one after the other.
    pub fn of<O: Operation>(&self) -> Parameters<'_> {
        let mut problems = Vec::new();
        for (n, (name, _)) in self.0.iter().enumerate() {
            if !O::QUERY.iter().any(|known| known.name == *name) {
                problems.push(unknown("parameter", name));
            } else if self.0[..n].iter().any(|(before, _)| before == name) {
                problems.push(format!("{name}: is there twice"));
            }
        }
        let refuse: fn(Vec<String>) -> Failure = match O::SHAPE {
            Shape::Operator => |problems| OperatorFailure::BadFields(problems).into(),
            Shape::Lending | Shape::Payments => Failure::BadParameters,
        };
        Parameters { query: &self.0, problems, refuse }
    }
}

/// The parameters of a query, and what was wrong with them so far.
pub(crate) struct Parameters<'a> {
    query: &'a [(String, String)],
    problems: Vec<String>,
    /// What the side answers to them.
    refuse: fn(Vec<String>) -> Failure,
}

impl<'a> Parameters<'a> {
    fn find(&self, name: &str) -> Option<&'a str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter, if it is there and good.
    pub fn get<T, E: Display>(&mut self, parameter: &Parameter, read: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        let read = read(self.find(parameter.name)?);
        read.map_err(|problem| self.problems.push(format!("{}: {problem}", parameter.name))).ok()
    }

    /// The window that `after` and `limit` ask for, if all parameters are good; `cursor` reads the first.
    pub fn window<C>(mut self, cursor: impl Fn(&str) -> Option<C>) -> Result<Window<C>, Failure> {
        let window = parameters::window(self.find("after"), self.find("limit"), cursor);
        let window = window.map_err(|mut problems| self.problems.append(&mut problems)).ok();
        window.filter(|_| self.problems.is_empty()).ok_or_else(|| (self.refuse)(self.problems))
    }

    /// An error if anything was wrong so far.
    pub fn good(self) -> Result<(), Failure> {
        if self.problems.is_empty() { Ok(()) } else { Err((self.refuse)(self.problems)) }
    }
}
