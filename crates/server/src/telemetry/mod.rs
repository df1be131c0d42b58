//! Where log lines go, and how they look, and where traces go. Log lines go to standard error; standard output belongs
//! to the commands.

mod json_lines;
mod lines;
mod otlp;

pub use lines::{LAST_WAIT, Log};

use crate::settings::{Common, LogFormat};
use json_lines::JsonLines;
use lendpay_api::Traces;
use otlp::Otlp;
use std::io::IsTerminal as _;
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging, and makes a panic a log line.
pub fn start(settings: &Common) -> Result<Log, String> {
    let text = match settings.log_format {
        LogFormat::Text => true,
        LogFormat::Json => false,
        LogFormat::Auto => std::io::stderr().is_terminal(),
    };
    let (writer, log) = lines::start().map_err(|error| format!("logging cannot be started: {error}"))?;
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let registry = tracing_subscriber::registry().with(settings.log.clone());
    let started = if text {
        registry.with(layer.with_ansi(std::io::stderr().is_terminal())).try_init()
    } else {
        registry.with(layer.event_format(JsonLines)).try_init()
    };
    started.map_err(|error| format!("logging cannot be started: {error}"))?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, message = panic.payload_as_str(), "panic");
    }));
    Ok(log)
}

/// Who collects traces, if anybody does.
pub fn traces(settings: &Common) -> Result<Option<Arc<dyn Traces>>, String> {
    let Some(collector) = &settings.otlp_endpoint else { return Ok(None) };
    Ok(Some(Arc::new(Otlp::start(collector, settings.trace_share, &settings.trust)?)))
}
