//! Where log lines go, and how they look. They go to standard error; standard output belongs to the commands.

mod json_lines;

use crate::settings::{Common, LogFormat};
use json_lines::JsonLines;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging, and makes a panic a log line.
pub fn start(settings: &Common) -> Result<(), String> {
    let filter = EnvFilter::builder()
        .parse(&settings.log)
        .map_err(|error| format!("--log {}: {error}; write a level such as info", settings.log))?;
    let text = match settings.log_format {
        LogFormat::Text => true,
        LogFormat::Json => false,
        LogFormat::Auto => std::io::stderr().is_terminal(),
    };
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    let started = match text {
        true => registry.with(layer.with_ansi(std::io::stderr().is_terminal())).try_init(),
        false => registry.with(layer.event_format(JsonLines)).try_init(),
    };
    started.map_err(|error| format!("logging cannot be started: {error}"))?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, message = panic.payload_as_str(), "panic");
    }));
    Ok(())
}
