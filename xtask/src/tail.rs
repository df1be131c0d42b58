//! The end of what a step prints, to be repeated where nobody can miss it: logs of CI may show only their end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::stdio::{dup2_stderr, dup2_stdout};

/// How many lines are repeated.
const LINES: usize = 20;

/// The line that ends what a step prints. No program prints it.
const END: &[u8] = b"\0end\n";

/// What this process and those that it starts print goes through a pipe, from which it is copied to standard output.
pub struct Tail {
    pipe: PipeWriter,
    stdout: OwnedFd,
    stderr: OwnedFd,
    last: Receiver<Vec<u8>>,
}

impl Tail {
    pub fn start() -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let (stdout, stderr) = (io::stdout().as_fd().try_clone_to_owned()?, io::stderr().as_fd().try_clone_to_owned()?);
        let (sender, last) = mpsc::channel();
        let copy = File::from(stdout.try_clone()?);
        std::thread::spawn(move || copy_lines(reader, copy, &sender));
        dup2_stdout(&pipe)?;
        dup2_stderr(&pipe)?;
        Ok(Self { pipe, stdout, stderr, last })
    }

    /// The last lines that were printed. A program that a step has left behind may still hold the pipe; what it prints
    /// goes on to standard output.
    pub fn end(mut self) -> io::Result<Vec<u8>> {
        dup2_stdout(&self.stdout)?;
        dup2_stderr(&self.stderr)?;
        self.pipe.write_all(END)?;
        self.last.recv().map_err(io::Error::other)
    }
}

/// Copies lines until nobody prints any more, and sends the last ones before [`END`].
fn copy_lines(from: PipeReader, mut to: File, last: &Sender<Vec<u8>>) {
    let (mut from, mut kept) = (BufReader::new(from), VecDeque::new());
    loop {
        let mut line = Vec::new();
        match from.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(unfinished) = line.strip_suffix(END) {
            // Without a line feed the step may have printed its last line.
            let _ = to.write_all(unfinished);
            kept.push_back(unfinished.to_vec());
            let _ = last.send(kept.iter().flatten().copied().collect());
            kept.clear();
            continue;
        }
        // Nobody reads it any more: the steps go on all the same.
        let _ = to.write_all(&line);
        kept.push_back(line);
        if kept.len() > LINES {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn all_lines_are_copied_and_the_last_ones_kept() {
        let (reader, mut pipe) = io::pipe().unwrap();
        let (mut copied, copy) = io::pipe().unwrap();
        let (sender, last) = mpsc::channel();
        let thread = std::thread::spawn(move || copy_lines(reader, File::from(OwnedFd::from(copy)), &sender));
        let lines: String = (0..LINES + 5).map(|n| format!("line {n}\n")).collect();
        pipe.write_all(format!("{lines}unfinished").as_bytes()).unwrap();
        pipe.write_all(END).unwrap();
        let kept = String::from_utf8(last.recv().unwrap()).unwrap();
        pipe.write_all(b"of a program that was left behind\n").unwrap();
        drop(pipe);
        thread.join().unwrap();
        assert!(kept.starts_with("line 5\n") && kept.ends_with("line 24\nunfinished"), "{kept}");
        let mut all = String::new();
        copied.read_to_string(&mut all).unwrap();
        assert_eq!(all, format!("{lines}unfinishedof a program that was left behind\n"));
    }
}
