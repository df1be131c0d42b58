//! `lendpay offer load`: a file of offers, checked as a whole before anything of it is sent.

mod read;

use super::Access;
use super::http::{CallError, Client, told};
use super::ids::some_partner;
use super::screen::{Columns, Format, Screen, column};
use crate::printable;
use crate::transfer::source;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lendpay_api::OFFERS_AT_ONCE;
use read::{Line, read};
use serde_json::{Value, json};
use std::io::BufReader;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

const COLUMNS: Columns = &[
    column("CREATED", "created"),
    column("REPLACED", "replaced"),
    column("UNCHANGED", "unchanged"),
    column("FAILED", "failed"),
];

const CHECKED: Columns = &[column("CHECKED", "checked")];

/// How many problems are told; the others are counted.
const TOLD: u64 = 50;

/// How often offers are sent again that the service cannot take at the time.
const TRIES: u32 = 30;

/// How long it waits before that (the document).
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct Load {
    /// What to read; - is standard input.
    #[arg(value_name = "FILE|-")]
    file: String,
    /// What the file is; without this its name ends with .csv or .ndjson.
    #[arg(long, value_name = "FORMAT")]
    format: Option<FileFormat>,
    /// The owner of the applications, which are made if they are not there: its name or id. For lines without
    /// partnerId.
    #[arg(long, value_name = "PARTNER")]
    partner: Option<String>,
    /// Check the file, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// CSV (RFC 4180). The first line names the fields.
    Csv,
    /// A JSON object a line.
    Ndjson,
}

impl Load {
    fn format(&self) -> Result<FileFormat, String> {
        let ending = Path::new(&self.file).extension().and_then(|ending| ending.to_str());
        let by_name = || FileFormat::from_str(ending?, true).ok();
        self.format.or_else(by_name).ok_or_else(|| format!("say with --format what {} is: csv or ndjson", self.file))
    }
}

pub fn load(load: &Load) -> Result<(), String> {
    let (format, file) = (load.format()?, BufReader::new(source(&load.file)?));
    let mut problems = Problems::default();
    let mut lines = read(file, format, &mut problems).map_err(|error| format!("{}: {error}", load.file))?;
    problems.finish();
    match problems.count {
        0 if lines.is_empty() => return Err(format!("{} holds no offers", load.file)),
        0 => {}
        count => return Err(format!("{} has {count} problems; nothing was sent", load.file)),
    }
    let show = |columns, item: Value| Screen::new(Format::json_or(load.json, Format::Table), columns).show(&[item]);
    if load.dry_run {
        return show(CHECKED, json!({ "checked": lines.len() }));
    }
    let client = Client::new(&load.access)?;
    if let Some(partner) = some_partner(&client, load.partner.as_deref())? {
        lines.iter_mut().for_each(|line| line.add_partner(&partner));
    }
    let mut sent = Sent::default();
    let result = sent.send(&client, &lines, &mut problems);
    problems.finish();
    let Sent { created, replaced, unchanged, failed } = sent;
    show(COLUMNS, json!({ "created": created, "replaced": replaced, "unchanged": unchanged, "failed": failed }))?;
    result.map_err(|error| format!("{error}; repeat the command: what was loaded is unchanged then"))?;
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} offers were not loaded", lines.len())) }
}

/// What became of the offers.
#[derive(Default)]
struct Sent {
    created: u64,
    replaced: u64,
    unchanged: u64,
    failed: u64,
}

impl Sent {
    fn send(&mut self, client: &Client, lines: &[Line], problems: &mut Problems) -> Result<(), String> {
        let bar = ProgressBar::new(lines.len() as u64);
        let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} offers, {eta} left");
        bar.set_style(style.expect("it is a template"));
        for batch in lines.chunks(OFFERS_AT_ONCE) {
            let mut tries = 0..TRIES;
            let mut batch: Vec<_> = batch.iter().collect();
            while !batch.is_empty() {
                let may_try_again = tries.next().is_some();
                let whole = batch.len();
                batch = bar.suspend(|| self.send_batch(client, batch, may_try_again, problems))?;
                bar.inc((whole - batch.len()) as u64);
                if !batch.is_empty() {
                    sleep(PAUSE);
                }
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Sends some offers. Gives those that the service could not take now, if they may be sent again.
    fn send_batch<'a>(
        &mut self,
        client: &Client,
        batch: Vec<&'a Line>,
        may_try_again: bool,
        problems: &mut Problems,
    ) -> Result<Vec<&'a Line>, String> {
        let items: Vec<_> = batch.iter().map(|line| &line.offer).collect();
        let answer = match client.post("/operator/offers/batch", &json!({ "items": items })) {
            Err(CallError::Busy(_)) if may_try_again => return Ok(batch),
            answer => answer?,
        };
        let answers = answer["items"].as_array().filter(|answers| answers.len() == batch.len());
        let mut again = Vec::new();
        for (line, answer) in batch.into_iter().zip(answers.ok_or("the service answered no batch")?) {
            match answer["result"].as_str() {
                Some("created") => self.created += 1,
                Some("replaced") => self.replaced += 1,
                Some("unchanged") => self.unchanged += 1,
                _ if may_try_again && answer["failure"]["status"] == 503 => again.push(line),
                _ => {
                    self.failed += 1;
                    problems.tell(line.number, &told(&answer["failure"]["status"], &answer["failure"]));
                }
            }
        }
        Ok(again)
    }
}

/// What is wrong with lines: told on standard error, up to a bound.
#[derive(Default)]
pub struct Problems {
    count: u64,
}

impl Problems {
    fn tell(&mut self, line: u64, problem: &str) {
        self.count += 1;
        if self.count <= TOLD {
            eprintln!("line {line}: {}", printable::line(problem));
        }
    }

    /// Says how many were not told.
    fn finish(&self) {
        if self.count > TOLD {
            eprintln!("and {} more", self.count - TOLD);
        }
    }
}
