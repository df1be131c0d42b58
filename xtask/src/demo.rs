//! `lendpay demo`, running for as long as something is tried against it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::Context;

use crate::command::command;
use crate::server::built;

/// The service with something in it. It is ended when this is dropped.
pub struct Demo {
    child: Child,
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    key: String,
    application: String,
    /// In the order of the demo's screen: offered, indicative, expiring soon, declined, accepted.
    offers: Vec<String>,
}

impl Demo {
    /// Builds the binary and starts it on a free port.
    pub fn start(root: &Path) -> anyhow::Result<Self> {
        let program = built(root)?.join("lendpay");
        let mut demo =
            command(root, &program, &["demo", "--listen", "127.0.0.1:0", "--log", "warn", "--rate-limit", "off"]);
        let child =
            demo.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut demo =
            Self { child, base: String::new(), key: String::new(), application: String::new(), offers: Vec::new() };
        demo.read_screen()?;
        println!("The demo runs at {}.", demo.base);
        Ok(demo)
    }

    /// What there is to try, for a program's environment.
    pub fn to_try(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let offer = |at: usize| self.offers.get(at).cloned().context("the demo has too few offers");
        Ok(vec![
            ("LENDPAY_BASE", self.base.clone()),
            ("LENDPAY_KEY", self.key.clone()),
            ("LENDPAY_APPLICATION", self.application.clone()),
            ("LENDPAY_OFFER", offer(0)?),
            ("LENDPAY_INDICATIVE", offer(1)?),
            ("LENDPAY_DECLINED", offer(3)?),
        ])
    }

    fn read_screen(&mut self) -> anyhow::Result<()> {
        let stdout = self.child.stdout.take().context("the demo's output is not piped")?;
        for line in BufReader::new(stdout).lines() {
            let line = line.context("cannot read the demo's screen")?;
            let words: Vec<_> = line.split_whitespace().collect();
            match words.as_slice() {
                ["Documentation", address] => self.base = address.trim_end_matches("/docs").to_owned(),
                ["API", "key", key] => self.key = (*key).to_owned(),
                ["Application", application] => self.application = (*application).to_owned(),
                ["Offer", offer, ..] => self.offers.push((*offer).to_owned()),
                // Its last line: the store is filled, the listener bound.
                ["Ctrl-C", ..] => return Ok(()),
                _ => {}
            }
        }
        anyhow::bail!("the demo ended before it was ready")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It keeps nothing that an orderly end would save; an error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
