//! The partner side, at three offers of the demo.

use anyhow::Context;
use xshell::Shell;

use super::{Attack, must_have};
use crate::service::Demo;

pub fn test(shell: &Shell, seed: u32) -> anyhow::Result<()> {
    let demo = Demo::start(shell)?;
    // Each offer, with what AcceptOffer must have answered. Only an answer of success has its authentication judged.
    let accepts: [(Option<&str>, &[u64]); 3] =
        [(Some("LENDPAY_INDICATIVE"), &[200, 401]), (Some("LENDPAY_DECLINED"), &[409]), (None, &[404])];
    let tried = demo.to_try()?;
    let value = |name| tried.iter().find(|(tried, _)| *tried == name).map(|(_, value)| value.clone());
    for (offer, statuses) in accepts {
        let offer = match offer {
            Some(name) => value(name).with_context(|| format!("there is no {name}"))?,
            None => "00000000-0000-4000-8000-000000000000".to_owned(),
        };
        let mut environment = tried.clone();
        environment.push(("LENDPAY_ATTACKED", offer));
        let reached = Attack { side: "partner", base: &demo.base, seed, environment }.run(shell)?;
        for &status in statuses {
            must_have(&reached, "AcceptOffer", status)?;
        }
        // 409 and 422 of CreateBuyer need two requests that belong together; the API's own tests make them.
        for status in [201, 400, 401] {
            must_have(&reached, "CreateBuyer", status)?;
        }
        for operation in ["DeclineOffer", "ListApplications", "ListOffers", "GetOffer", "ListBuyers", "ListEvents"] {
            for status in [200, 401] {
                must_have(&reached, operation, status)?;
            }
        }
    }
    Ok(())
}
