//! A throw-away PostgreSQL: made from the programs that are on the machine, gone with whoever started it.
//!
//! The programs are looked for in `PG_BIN`, then where Debian puts them. Root runs them as the user `postgres`, since
//! they refuse root. Whatever fails here panics with what is missing: a test without its database must not pass.

#![expect(
    clippy::missing_panics_doc,
    reason = "every function of this crate panics when PostgreSQL does not do as it is told"
)]

mod patroni;
mod pooler;

pub use patroni::{Fault, Node, Patroni};
pub use pooler::Pooler;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A cluster that runs. It is stopped and removed when this is dropped, or when the process ends in whatever way.
pub struct Cluster {
    directory: PathBuf,
    port: u16,
    /// Waits for its input to end, and removes everything then.
    keeper: Child,
}

/// How a cluster begins.
pub enum Begin<'a> {
    /// With nothing in it.
    Empty,
    /// The same, and files of 1 MiB for its log in place of 16, for tests that bound how large files may become.
    EmptyWithShortLogFiles,
    /// As a standby of another, under a name that the other may wait for.
    Standby(&'a Cluster, &'a str),
}

/// For tests that need no durability: what is lost with the machine is not missed. Hundreds of databases would keep
/// autovacuum busy.
const FAST: &[&str] = &["fsync=off", "full_page_writes=off", "autovacuum=off"];

impl Cluster {
    /// The one that the tests of a process share. It does not sync.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(Begin::Empty, FAST))
    }

    /// Starts a cluster with settings such as `fsync=off`.
    pub fn start(begin: Begin<'_>, settings: &[&str]) -> Self {
        Self::start_on(free_port(), begin, settings)
    }

    /// The same on a port.
    pub fn start_on(port: u16, begin: Begin<'_>, settings: &[&str]) -> Self {
        let directory = directory();
        let data = directory.join("data");
        match begin {
            Begin::Empty | Begin::EmptyWithShortLogFiles => {
                let mut initdb = program("initdb");
                if matches!(begin, Begin::EmptyWithShortLogFiles) {
                    initdb.arg("--wal-segsize=1");
                }
                initdb.args(["-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D"]).arg(&data);
                finish(initdb);
            }
            Begin::Standby(primary, name) => {
                let mut copy = program("pg_basebackup");
                let from = format!("host=127.0.0.1 port={} user=postgres application_name={name}", primary.port);
                copy.args(["-R", "-X", "stream", "-c", "fast", "-d", &from, "-D"]).arg(&data);
                finish(copy);
            }
        }
        let keeper = keep(&directory, port, settings);
        let cluster = Self { directory, port, keeper };
        cluster.wait_until_it_answers();
        cluster
    }

    /// The port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// A connection string for a database of it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database; returns its connection string.
    pub fn database(&self) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// Runs SQL in a database; returns what it prints, without decoration.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        answer(&self.url(database), sql).unwrap_or_else(|problem| panic!("{sql}: {problem}"))
    }

    fn wait_until_it_answers(&self) {
        // Only so that a test whose cluster does not start ends.
        for _ in 0..600 {
            if answer(&self.url("postgres"), "SELECT 1").is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PostgreSQL does not start: {}", self.log());
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Kills the postmaster and all its children (SIGKILL).
    pub fn kill(&self) {
        let main = self.postmaster();
        Self::each_process(&main, "kill -9 $p 2>/dev/null");
        self.wait_until_gone(&main);
    }

    /// Stops it, as a machine that goes down in order does; connections are closed.
    pub fn stop(&self) {
        let main = self.postmaster();
        assert!(Command::new("kill").args(["-INT", &main]).status().expect("kill runs").success());
        self.wait_until_gone(&main);
    }

    fn wait_until_gone(&self, process: &str) {
        let folder = Path::new("/proc").join(process);
        // A process that has ended stays as a zombie until its parent looks.
        let runs = || fs::read_to_string(folder.join("stat")).is_ok_and(|stat| !stat.contains(") Z "));
        while runs() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts it again after [`Self::kill`] or [`Self::stop`].
    pub fn start_again(&mut self, settings: &[&str]) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        // Left by a server that was killed; it may name a process that has ended and was not looked at yet.
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
        self.keeper = keep(&self.directory, self.port, settings);
        self.wait_until_it_answers();
    }

    /// Makes a standby the primary, and waits until it is.
    pub fn promote(&self) {
        assert_eq!(self.sql("postgres", "SELECT pg_promote(true)"), "t");
    }

    /// Bounds how large a file may become, for the server and everything that it starts: what a disk without room does
    /// to it. Without a number there is no bound.
    pub fn bound_files(&self, bytes: Option<u64>) {
        let bound = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
        Self::each_process(&self.postmaster(), &format!("prlimit --pid $p --fsize={bound}:unlimited"));
    }

    /// Runs a command of the shell for the server and each process that it has started. A child may end by itself
    /// meanwhile.
    fn each_process(main: &str, command: &str) {
        let all = format!(
            "for p in {main} $(cat /proc/{main}/task/{main}/children); do {command} || [ ! -d /proc/$p ] || exit 1; done"
        );
        assert!(as_other_user("sh").args(["-c", &all]).status().expect("sh runs").success());
    }

    /// Writes a file beside its data that nobody else can read.
    pub fn put_file(&self, name: &str, text: &str) {
        let path = self.data().join(name);
        fs::write(&path, text).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        if let Some((user, group)) = other_user() {
            chown(&path, Some(user), Some(group)).expect("root gives files away");
        }
    }

    /// Adds a line before all others that say who may connect, and how.
    pub fn admit(&self, line: &str) {
        let file = self.data().join("pg_hba.conf");
        let lines = fs::read_to_string(&file).expect("the file");
        fs::write(&file, format!("{line}\n{lines}")).expect("it can be written");
        self.sql("postgres", "SELECT pg_reload_conf()");
    }

    /// Ends every connection but this one.
    pub fn disconnect(&self) {
        self.sql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL");
    }

    /// Where its data are.
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn postmaster(&self) -> String {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).expect("it runs");
        file.lines().next().expect("a process id").to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Runs SQL; returns what psql prints, without decoration, or why it did not work.
fn answer(url: &str, sql: &str) -> Result<String, String> {
    let mut psql = program("psql");
    psql.env("PGCONNECT_TIMEOUT", "2").args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql]).arg(url);
    let output = psql.output().expect("psql runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Starts the server.
fn keep(directory: &Path, port: u16, settings: &[&str]) -> Child {
    let mut server = program("postgres");
    server.arg("-D").arg(directory.join("data")).args(["-p", &port.to_string()]);
    let own =
        ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", "log_min_messages=error"];
    for setting in own.iter().chain(settings) {
        server.args(["-c", setting]);
    }
    keep_below_a_shell(directory, &server)
}

/// Starts a program below a shell that ends it and removes its directory when the shell's input ends, which it does
/// with this process.
fn keep_below_a_shell(directory: &Path, program: &Command) -> Child {
    const SCRIPT: &str = r#"folder=$1; shift; "$@" >"$folder/log" 2>&1 </dev/null & server=$!
        read -r _; kill -TERM $server 2>/dev/null; kill -QUIT $server 2>/dev/null; wait $server; rm -rf "$folder""#;
    let mut shell = as_other_user("sh");
    shell.args(["-c", SCRIPT, "keeper"]).arg(directory).arg(program.get_program()).args(program.get_args());
    // A signal to the tests, such as Ctrl-C, must not end it before it has cleaned up.
    shell.process_group(0).stdin(Stdio::piped()).spawn().expect("sh runs")
}

/// A directory for PostgreSQL's user. Whoever starts something in it removes it.
fn directory() -> PathBuf {
    let made = tempfile::Builder::new().prefix("lendpay-pg-").tempdir().expect("a temporary directory");
    let directory = made.keep();
    if let Some((user, group)) = other_user() {
        chown(&directory, Some(user), Some(group)).expect("root gives directories away");
    }
    directory
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port").port()
}

fn finish(mut command: Command) {
    let output = command.output().expect("PostgreSQL's programs run");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// One of PostgreSQL's programs.
fn program(name: &str) -> Command {
    as_other_user(&programs().join(name).display().to_string())
}

fn as_other_user(program: &str) -> Command {
    let mut command = Command::new(program);
    // Not a directory that the other user may not be in.
    command.current_dir("/").stdin(Stdio::null());
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

/// Where the programs are: the newest version that is there.
fn programs() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "it is no setting of the service")]
    if let Some(folder) = std::env::var_os("PG_BIN") {
        return folder.into();
    }
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest =
        installed.map(|entry| entry.path()).filter(|path| path.join("bin/initdb").exists()).max_by_key(version);
    newest
        .expect("PostgreSQL is needed: apt-get install postgresql, or name the folder of its programs in PG_BIN")
        .join("bin")
}

/// The user and group of PostgreSQL, when this runs as root.
fn other_user() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").expect("Linux").uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("users");
    let line =
        users.lines().find(|line| line.starts_with("postgres:")).expect("a user `postgres`, whom its package makes");
    let mut fields = line.split(':').skip(2).map(|field| field.parse().expect("a number"));
    Some((fields.next().expect("a user's number"), fields.next().expect("a group's number")))
}
