//! The operator's console in a real browser.

use std::env;

use xshell::{Shell, cmd};

use crate::service::{OPERATOR_KEY, Service};
use crate::tools::npm::NodeModules;

/// Walks through its pages; screenshots are in target/console.
pub fn walk(shell: &Shell, tools: &NodeModules, judges: &NodeModules) -> anyhow::Result<()> {
    let shots = shell.current_dir().join("target/console");
    let service = Service::start(shell, &shots.join("data"))?;
    let modules = env::join_paths([judges.folder(), tools.folder()])?;
    let walk = cmd!(shell, "node xtask/browser/console.cjs").env("NODE_PATH", modules).env("LENDPAY_SHOTS", shots);
    let walk = walk.env("LENDPAY_OPERATOR", &service.operator).env("LENDPAY_PARTNER", &service.partner);
    Ok(walk.env("LENDPAY_OPERATOR_KEY", OPERATOR_KEY).run()?)
}
