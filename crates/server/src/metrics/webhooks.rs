//! What is delivered to endpoints of webhooks, and what waits.

use super::Page;
use crate::webhooks::{DeliveryCounts, DeliveryState};

impl Page {
    pub(super) fn webhooks(&mut self, counts: &DeliveryCounts) {
        let DeliveryState { endpoints, served, aside, lag_events, lag } = counts.state();
        let help = "Attempts to send an event to an endpoint of webhooks, by what became of them.";
        let results = counts.results().map(|(result, count)| (format!(r#"result="{result}""#), count));
        self.counters("lendpay_webhook_attempts_total", help, results);
        let help = "Events that are not sent again: an endpoint that took others did not take them for 7 days.";
        self.counters("lendpay_webhook_given_up_total", help, [("", counts.given_up())]);
        let help = "Endpoints of webhooks in the store, by state.";
        self.family("lendpay_webhook_endpoints", "gauge", help);
        for (state, number) in ["active", "paused", "disabled"].into_iter().zip(endpoints) {
            self.sample("lendpay_webhook_endpoints", format_args!(r#"state="{state}""#), number);
        }
        self.gauge("lendpay_webhook_served", "Endpoints of webhooks that this process serves.", served);
        let help = "Events that are set aside, since they or earlier ones of their subject have failed.";
        self.gauge("lendpay_webhook_aside", help, aside);
        let help =
            "How many events the endpoint has before it that has the most; those that are set aside do not count.";
        self.gauge("lendpay_webhook_lag_events", help, lag_events);
        let help =
            "How long ago the oldest event happened that waits for an endpoint; those that are set aside do not count.";
        self.gauge("lendpay_webhook_lag_seconds", help, lag.as_secs_f64());
    }
}
