//! Parameters of lists. They are judged after the key.

use crate::failure::Failure;
use crate::operations::parameters::{self, BAD_LIMIT};
pub(super) use crate::operations::parameters::{AFTER, AFTER_SEQUENCE, LIMIT, REGISTRATION_NUMBER, STATUS};
use crate::operator_failure::OperatorFailure;
use lendpay_domain::page::Window;

/// The window that `after` and `limit` ask for; `cursor` reads the first.
pub(super) fn window<C>(
    after: Option<&str>,
    limit: Option<&str>,
    cursor: impl Fn(&str) -> Option<C>,
) -> Result<Window<C>, Failure> {
    parameters::window(after, limit, cursor).map_err(|problems| OperatorFailure::BadFields(problems).into())
}

/// One of each failure that parameters of a list can give.
pub(super) fn bad_window() -> Failure {
    OperatorFailure::BadFields(vec![BAD_LIMIT.to_owned()]).into()
}
