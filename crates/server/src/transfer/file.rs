//! Files that exports are written to and read from, and how far they are.

use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where an export goes. A file gets its name when it is whole, and nobody but its owner may read it: it holds bank details.
pub enum Destination {
    File { writer: BufWriter<File>, part: PathBuf, path: PathBuf },
    Output(BufWriter<io::Stdout>),
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
        // What an export that was cut off has left may have any mode.
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(&part, &error)),
            Ok(()) | Err(_) => {}
        }
        let file = File::options().write(true).create_new(true).mode(0o600).open(&part);
        let file = file.map_err(|error| cannot(&part, &error))?;
        Ok(Self::File { writer: BufWriter::with_capacity(1 << 16, file), part, path })
    }

    /// Makes it durable under its name.
    pub fn finish(mut self) -> Result<(), String> {
        self.flush().map_err(|error| format!("the export cannot be written: {error}"))?;
        let Self::File { writer, part, path } = &mut self else { return Ok(()) };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        writer
            .get_ref()
            .sync_all()
            .and_then(|()| std::fs::rename(&part, &path))
            .and_then(|()| File::open(directory)?.sync_all())
            .map_err(|error| cannot(path, &error))
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { writer, .. } => writer.write(bytes),
            Self::Output(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { writer, .. } => writer.flush(),
            Self::Output(writer) => writer.flush(),
        }
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if let Self::File { part, .. } = self {
            // It has its name by now, or is not whole.
            let _ = std::fs::remove_file(part);
        }
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
pub struct Tee<'a, R, W> {
    from: R,
    to: &'a mut W,
    progress: &'a Progress,
    bytes: u64,
}

impl<'a, R, W> Tee<'a, R, W> {
    pub fn new(from: R, to: &'a mut W, progress: &'a Progress) -> Self {
        Self { from, to, progress, bytes: 0 }
    }
}

impl<R: Read, W: Write> Read for Tee<'_, R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.to.write_all(&buffer[..length])?;
        self.bytes += length as u64;
        self.progress.set(self.bytes);
        Ok(length)
    }
}

/// How far it is, on a terminal; elsewhere nothing is shown.
pub struct Progress(ProgressBar);

impl Progress {
    /// Towards a number of records.
    pub fn of(records: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} records, {eta} left");
        Self(ProgressBar::new(records).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Towards an end that nobody knows.
    pub fn unknown(what: &str) -> Self {
        let style = ProgressStyle::with_template(&format!("{{spinner}} {{human_pos}} {what}, {{elapsed}}"));
        Self(ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())))
    }

    pub fn set(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
