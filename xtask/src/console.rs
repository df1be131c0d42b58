//! The operator's console in a real browser.

use std::env;

use xshell::{Cmd, Shell, cmd};

use crate::service::{OPERATOR_KEY, Service};
use crate::tools::npm::NodeModules;

/// A walk through its pages; screenshots are in target/console.
pub fn walk<'a>(
    shell: &'a Shell,
    service: &Service,
    tools: &NodeModules,
    judges: &NodeModules,
) -> anyhow::Result<Cmd<'a>> {
    let modules = env::join_paths([judges.folder(), tools.folder()])?;
    let walk = cmd!(shell, "node xtask/browser/console.cjs").env("NODE_PATH", modules);
    let walk = walk.env("LENDPAY_SHOTS", shell.current_dir().join("target/console"));
    let walk = walk.env("LENDPAY_OPERATOR", &service.operator).env("LENDPAY_PARTNER", &service.partner);
    Ok(walk.env("LENDPAY_OPERATOR_KEY", OPERATOR_KEY))
}
