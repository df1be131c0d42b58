//! Files that exports are written to and read from, and how far they are.

use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsStr;
use std::fs::{File, remove_file};
use std::io::{self, BufWriter, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where an export goes. A file gets its name when it is whole, and nobody but its owner may read it: it holds bank
/// details.
pub enum Destination {
    File { writer: BufWriter<NamedTempFile>, path: PathBuf },
    Output(BufWriter<io::Stdout>),
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Destination {
    /// Begins to write to a file, or to standard output for `-`.
    pub fn create(name: &str) -> Result<Self, String> {
        if name == "-" {
            // It holds bank details and, from a running service, whatever that sends: nothing for a terminal.
            if io::stdout().is_terminal() {
                return Err("an export is not written to a terminal; name a file, or use a pipe".to_owned());
            }
            return Ok(Self::Output(BufWriter::new(io::stdout())));
        }
        let (path, part) = (PathBuf::from(name), PathBuf::from(format!("{name}.part")));
        let prefix =
            path.file_name().map(OsStr::to_owned).ok_or_else(|| format!("{name} is not the name of a file"))?;
        // What an export that was cut off has left may have any mode.
        match remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(&part, &error)),
            Ok(()) | Err(_) => {}
        }
        let file = tempfile::Builder::new().prefix(&prefix).suffix(".part").rand_bytes(0).tempfile_in(directory(&path));
        let writer = BufWriter::with_capacity(1 << 16, file.map_err(|error| cannot(&part, &error))?);
        Ok(Self::File { writer, path })
    }

    pub fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::File { writer, .. } => writer,
            Self::Output(writer) => writer,
        }
    }

    /// Makes it durable under its name.
    pub fn finish(mut self) -> Result<(), String> {
        self.writer().flush().map_err(|error| format!("the export cannot be written: {error}"))?;
        let Self::File { writer, path } = self else { return Ok(()) };
        let durable = || {
            let file = writer.into_inner()?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            File::open(directory(&path))?.sync_all()
        };
        durable().map_err(|error| cannot(&path, &error))
    }
}

fn cannot(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}

/// Opens what is to be imported. Standard input is kept in a temporary file that has no name: it is read twice.
pub fn source(name: &str) -> Result<File, String> {
    if name != "-" {
        return File::open(name).map_err(|error| format!("{name} cannot be read: {error}"));
    }
    let spool = || {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        io::Seek::rewind(&mut file)?;
        Ok(file)
    };
    spool().map_err(|error: io::Error| format!("standard input cannot be kept in a temporary file: {error}"))
}

/// Copies what is read through it.
pub struct Tee<'a, R> {
    pub from: R,
    pub to: &'a mut dyn Write,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.to.write_all(&buffer[..length])?;
        Ok(length)
    }
}

/// Shows on a terminal how far a number of records is, until it is dropped; elsewhere nothing.
pub fn of_records(records: u64) -> ProgressBar {
    ProgressBar::new(records).with_style(style("{bar:40} {human_pos}/{human_len} records, {eta} left"))
}

/// The same, towards an end that nobody knows.
pub fn unbounded(what: &str) -> ProgressBar {
    ProgressBar::no_length().with_style(style(&format!("{{spinner}} {{human_pos}} {what}, {{elapsed}}")))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are those above")
}
