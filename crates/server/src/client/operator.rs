//! `lendpay operator`. It calls no service: whoever may write the operators' file adds the line.

use super::screen::{Columns, Format, Screen, column};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use lendpay_api::NewOperatorKey;
use lendpay_domain::operator::{OperatorName, Role};
use serde_json::json;

const MADE: Columns = &[column("NAME", "name"), column("ROLE", "role"), column("KEY", "key"), column("LINE", "line")];

#[derive(Debug, Subcommand)]
pub enum OperatorCommand {
    /// Make a key for an operator, and the line of the operators' file that admits it. The key is kept nowhere: this is
    /// the only time that it is shown.
    NewKey(NewKey),
}

#[derive(Debug, Args)]
pub struct NewKey {
    /// What events and logs call the operator: letters, digits, '.', '_' and '-'. A name may have several keys.
    #[arg(value_name = "NAME", value_parser = OperatorName::parse)]
    name: OperatorName,
    /// What the operator may do. Each role may do what those before it may do, and more.
    #[arg(value_name = "ROLE", value_parser = role())]
    role: Role,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Reads a role, and lets shells complete it.
fn role() -> impl TypedValueParser<Value = Role> {
    let names = PossibleValuesParser::new(Role::ALL.map(Role::name));
    names.map(|name| Role::parse(&name).expect("only names of roles are possible"))
}

pub fn run(command: &OperatorCommand) -> Result<(), String> {
    let OperatorCommand::NewKey(NewKey { name, role, json }) = command;
    let NewOperatorKey { key, line } = NewOperatorKey::make(*name, *role);
    let made = json!({ "name": name.as_str(), "role": role.name(), "key": key, "line": line });
    Screen::new(Format::json_or(*json, Format::Record), MADE).show(&[made])
}
