//! The query of a partner's read. Taking it never fails, so that a caller is authenticated first.
//!
//! What an operation does not know is refused, and so is what is there twice: a filter that is misspelt and ignored would
//! answer with everything, and nobody would notice. `AcceptOffer`, `CreateBuyer` and `DeclineOffer` have no parameters and
//! ignore all, as they always have.

use super::{Operation, parameters};
use crate::failure::Failure;
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
        Parameters { query: &self.0, problems }
    }
}

/// The parameters of a query, and what was wrong with them so far.
pub(crate) struct Parameters<'a> {
    query: &'a [(String, String)],
    problems: Vec<String>,
}

impl<'a> Parameters<'a> {
    fn find(&self, name: &str) -> Option<&'a str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter, if it is there and good.
    pub fn get<T, E: Display>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        let read = read(self.find(name)?);
        read.map_err(|problem| self.problems.push(format!("{name}: {problem}"))).ok()
    }

    /// The window that `after` and `limit` ask for, if all parameters are good; `cursor` reads the first.
    pub fn window<C>(mut self, cursor: impl Fn(&str) -> Option<C>) -> Result<Window<C>, Failure> {
        let window = parameters::window(self.find("after"), self.find("limit"), cursor);
        let window = window.map_err(|mut problems| self.problems.append(&mut problems)).ok();
        window.filter(|_| self.problems.is_empty()).ok_or(Failure::BadParameters(self.problems))
    }

    /// Refuses every parameter: the operation has none.
    pub fn none(self) -> Result<(), Failure> {
        if self.problems.is_empty() { Ok(()) } else { Err(Failure::BadParameters(self.problems)) }
    }
}
