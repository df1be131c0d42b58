//! A clock that stands still until it is set.

use lendpay_api::Clock;
use lendpay_domain::Timestamp;
use std::sync::Mutex;

pub struct SetClock(Mutex<Timestamp>);

impl SetClock {
    pub fn new(at: Timestamp) -> Self {
        Self(Mutex::new(at))
    }

    pub fn set(&self, at: Timestamp) {
        *self.0.lock().expect("not poisoned") = at;
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("not poisoned")
    }
}
