//! Parameters of lists. They are judged after the key.

use crate::failure::Failure;
use crate::operations::parameters::BAD_LIMIT;
pub(super) use crate::operations::parameters::{AFTER, AFTER_SEQUENCE, LIMIT, REGISTRATION_NUMBER, STATUS, WAIT, wait};
use crate::operator_failure::OperatorFailure;

/// One of each failure that parameters of a list can give.
pub(super) fn bad_window() -> Failure {
    OperatorFailure::BadFields(vec![BAD_LIMIT.to_owned()]).into()
}
