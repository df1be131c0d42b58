//! The binary `lendpay`: reads the command line, and runs the command.

mod client;
mod command_line;
mod completions;
mod examples;
mod expiry;
mod listener;
mod metrics;
mod oauth;
mod operators;
mod outgoing;
mod printable;
mod runtime;
mod sandbox;
mod secret_file;
mod serve;
mod settings;
mod sockets;
mod stop;
mod store;
mod system_clock;
mod telemetry;
mod transfer;
mod webhooks;

use command_line::{Command, CommandLine};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::mpsc::channel;

/// A request makes some fifty small allocations on one thread and frees many of them on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match keep_private().and_then(|()| command_line::no_unknown_variables()).and_then(|()| run()) {
        Ok(code) => code,
        Err(problem) => fail(&problem),
    }
}

fn run() -> Result<ExitCode, String> {
    let done = match examples::parse::<CommandLine>().command {
        Command::Serve(serve) => serve::run(&serve),
        Command::Sandbox(sandbox) => sandbox::run(&sandbox),
        Command::Backup(backup) => return transfer::backup(&backup),
        Command::Export(export) => transfer::export(&export),
        Command::Import(import) => transfer::import(&import),
        Command::Verify(kept) => transfer::verify(&kept),
        Command::History(command) => transfer::history(&command),
        Command::Migrate(migrate) => transfer::migrate(&migrate),
        Command::Partner(command) => client::partner(&command),
        Command::Key(command) => client::key(&command),
        Command::Application(command) => client::application(&command),
        Command::Offer(command) => client::offer(&command),
        Command::Buyer(command) => client::buyer(&command),
        Command::Events(command) => client::events(&command),
        Command::Operation(command) => client::operation(&command),
        Command::Webhook(command) => client::webhook(&command),
        Command::Operator(command) => client::operator(&command),
        Command::Health(command) => client::health(&command),
        Command::Completions(command) => completions::run(&command, examples::command::<CommandLine>()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The files that this process makes can be read by its user alone, whatever the umask was, and a crash writes no core
/// dump: both hold bank details. (`prlimit --core=unlimited --pid PID` allows a dump of a running process.)
fn keep_private() -> Result<(), String> {
    umask(Mode::RWXG | Mode::RWXO);
    let none = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    setrlimit(Resource::Core, none).map_err(|error| format!("core dumps cannot be turned off: {error}"))
}

/// The last line of a run that failed: one sentence, no backtrace. The process ends even if nobody reads it.
fn fail(problem: &str) -> ExitCode {
    let line = format!("lendpay: {}\n", printable::line(problem));
    let (send, written) = channel();
    std::thread::spawn(move || send.send(std::io::stderr().write_all(line.as_bytes())));
    // Nobody is left to tell when standard error is gone.
    let _ = written.recv_timeout(telemetry::LAST_WAIT);
    ExitCode::FAILURE
}
