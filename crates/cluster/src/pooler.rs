//! A throw-away PgBouncer in front of a cluster.

use super::{Cluster, as_other_user, directory, free_port, keep_below_a_shell};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

/// A pooler that runs. It is stopped and removed when this is dropped, or when the process ends in whatever way.
pub struct Pooler {
    directory: PathBuf,
    port: u16,
    keeper: Child,
}

impl Pooler {
    /// Starts one with a `pool_mode` and settings such as `default_pool_size = 4`.
    pub fn start(cluster: &Cluster, mode: &str, settings: &[&str]) -> Self {
        let (directory, port) = (directory(), free_port());
        let file = directory.join("pgbouncer.ini");
        let own = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\nmax_client_conn = 1000\n{}\n",
            cluster.port(),
            settings.join("\n")
        );
        std::fs::write(&file, own).expect("it can be written");
        let mut program = as_other_user("/usr/sbin/pgbouncer");
        program.arg(&file);
        let keeper = keep_below_a_shell(&directory, &program);
        let pooler = Self { directory, port, keeper };
        pooler.wait_until_it_listens();
        pooler
    }

    /// A connection string through it for what is at another one of the same cluster.
    pub fn url(&self, direct: &str) -> String {
        let (_, database) = direct.rsplit_once('/').expect("a connection string");
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    fn wait_until_it_listens(&self) {
        // Only so that a test whose pooler does not start ends.
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        panic!("PgBouncer does not start (apt-get install pgbouncer): {log}");
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
