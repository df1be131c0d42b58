//! Three throw-away PostgreSQL servers that Patroni keeps, and HAProxy in front of them, each in a network namespace of
//! its own. Needs root.

use super::{answer, directory, other_user, programs};
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A leader, a standby that each commit waits for, and another standby; commits wait while there is no such standby
/// (`synchronous_mode_strict`). They are stopped and removed when this is dropped, or when the process ends in whatever
/// way.
pub struct Patroni {
    directory: PathBuf,
    /// Waits for its input to end, and removes everything then.
    keeper: Child,
}

/// One of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(usize);

/// What happens to the machine of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends: SIGKILL for PostgreSQL and Patroni.
    Killed,
    /// It stands still: SIGSTOP for both.
    Frozen,
    /// No packet reaches it or leaves it.
    CutOff,
}

/// The host with etcd, which holds who leads.
const ETCD: usize = 0;

/// The host with HAProxy, which leads to the leader.
const PROXY: usize = 4;

/// The servers, each on a host of its own.
const NODES: [Node; 3] = [Node(1), Node(2), Node(3)];

/// Ends and removes what [`Patroni::start`] makes, also what an earlier one has left.
const REMOVE: &str = "for n in 0 1 2 3 4; do ip netns pids lendpay-$n 2>/dev/null | xargs -r kill -9; \
    ip link del lendpay-$n 2>/dev/null; ip netns del lendpay-$n 2>/dev/null; done; ip link del lendpay 2>/dev/null";

impl Fault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Killed, Self::Frozen, Self::CutOff];
}

impl Patroni {
    /// Starts the servers, and waits until there is a leader with two standbys.
    pub fn start() -> Self {
        let directory = directory();
        sh(&format!("{REMOVE}; true"));
        let mut keeper = Command::new("sh");
        keeper.args(["-c", &format!("read -r _; {REMOVE}; rm -rf \"$0\"")]).arg(&directory);
        // A signal to the experiment, such as Ctrl-C, must not end it before it has cleaned up.
        let keeper = keeper.process_group(0).stdin(Stdio::piped()).spawn().expect("sh runs");
        let all = Self { directory, keeper };
        sh(&format!(
            "ip link add lendpay type bridge && ip address add {}/24 dev lendpay && ip link set lendpay up",
            ip(250)
        ));
        for host in ETCD..=PROXY {
            sh(&format!(
                "ip netns add lendpay-{host} && ip link add lendpay-{host} type veth peer name eth0 netns lendpay-{host} && \
                 ip link set lendpay-{host} master lendpay up && ip -n lendpay-{host} link set lo up && \
                 ip -n lendpay-{host} address add {}/24 dev eth0 && ip -n lendpay-{host} link set eth0 up",
                ip(host)
            ));
        }
        let address = format!("http://{}:2379", ip(ETCD));
        let data = all.directory.join("etcd").display().to_string();
        let clients = ["--listen-client-urls", &address, "--advertise-client-urls", &address];
        all.run(ETCD, "etcd", &[&["--data-dir", &data], &clients[..]].concat());
        for node in NODES {
            fs::write(all.settings_of(node), settings(&all.directory, node)).expect("it can be written");
            all.run_node(node);
        }
        let proxy = all.directory.join("haproxy.cfg");
        fs::write(&proxy, proxy_settings()).expect("it can be written");
        all.run(PROXY, "/usr/sbin/haproxy", &["-db", "-f", &proxy.display().to_string()]);
        all.wait_until_whole();
        all
    }

    /// A connection string for a database, with all servers.
    pub fn url(&self, database: &str) -> String {
        let hosts: Vec<_> = NODES.iter().map(|node| ip(node.0)).collect();
        format!("postgres://postgres@{}/{database}", hosts.join(","))
    }

    /// A connection string that leads to the leader by way of HAProxy.
    pub fn url_of_proxy(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", ip(PROXY))
    }

    /// The server that takes writes, if there is one among those that are not left out.
    pub fn leader(&self, without: Option<Node>) -> Option<Node> {
        let leads = |node: &Node| node.sql("SELECT NOT pg_is_in_recovery()").is_ok_and(|leads| leads == "t");
        NODES.into_iter().filter(|node| Some(*node) != without).find(leads)
    }

    /// Waits until there is a leader, both standbys follow it, and it waits for one of them. Returns the standbys that
    /// had to be rebuilt for that, as an operator does: Patroni does not notice each standby that was ahead of a new
    /// leader.
    pub fn wait_until_whole(&self) -> Vec<Node> {
        const FOLLOWERS: &str = "SELECT string_agg(application_name, ' '), bool_or(sync_state = 'sync') FROM pg_stat_replication WHERE state = 'streaming'";
        let mut rebuilt = Vec::new();
        // Only so that an experiment whose servers do not start ends.
        for look in 1..=900 {
            let followers = self.leader(None).map(|leader| (leader, leader.sql(FOLLOWERS).unwrap_or_default()));
            if let Some((leader, followers)) = followers {
                let follows = |node: &Node| followers.contains(&node.name());
                let others: Vec<_> = NODES.into_iter().filter(|node| *node != leader && !follows(node)).collect();
                if others.is_empty() && followers.ends_with("|t") {
                    return rebuilt;
                }
                if look % 300 == 0 {
                    others.iter().for_each(|node| self.rebuild(*node));
                    rebuilt.extend(others);
                }
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!(
            "Patroni (apt-get install patroni etcd-server haproxy) has no leader with two standbys: {}",
            self.logs()
        );
    }

    fn rebuild(&self, node: Node) {
        let settings = self.settings_of(node).display().to_string();
        self.run(node.0, "patronictl", &["-c", &settings, "reinit", "lendpay", &node.name(), "--force"]);
    }

    /// The ends of what the servers have logged.
    fn logs(&self) -> String {
        let end = |host: usize| {
            let text = fs::read_to_string(self.log_of(host)).unwrap_or_default();
            let lines: Vec<_> = text.lines().collect();
            format!("\nhost {host}:\n{}", lines[lines.len().saturating_sub(10)..].join("\n"))
        };
        (ETCD..=PROXY).map(end).collect()
    }

    /// Does something to the machine of a server.
    pub fn strike(&self, Node(node): Node, fault: Fault) {
        match fault {
            Fault::Killed => signal(node, "KILL"),
            Fault::Frozen => signal(node, "STOP"),
            Fault::CutOff => sh(&format!("ip link set lendpay-{node} down")),
        }
    }

    /// The machine is as it was before.
    pub fn heal(&self, node: Node, fault: Fault) {
        match fault {
            Fault::Killed => self.run_node(node),
            Fault::Frozen => signal(node.0, "CONT"),
            Fault::CutOff => sh(&format!("ip link set lendpay-{} up", node.0)),
        }
    }

    fn run_node(&self, node: Node) {
        self.run(node.0, "patroni", &[&self.settings_of(node).display().to_string()]);
    }

    /// Starts a program on a host as PostgreSQL's user. It ends with the host.
    fn run(&self, host: usize, program: &str, arguments: &[&str]) {
        let (user, group) = other_user().expect("network namespaces need root");
        let log = File::options().create(true).append(true).open(self.log_of(host)).expect("it can be written");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("lendpay-{host}"), "setpriv", "--clear-groups"]);
        command.args([format!("--reuid={user}"), format!("--regid={group}")]).arg(program).args(arguments);
        let errors = log.try_clone().expect("a file");
        command.current_dir("/").process_group(0).stdin(Stdio::null()).stdout(log).stderr(errors);
        let mut child = command.spawn().expect("ip runs (apt-get install iproute2)");
        // So that no zombie is left of it.
        std::thread::spawn(move || child.wait());
    }

    fn settings_of(&self, Node(node): Node) -> PathBuf {
        self.directory.join(format!("{node}.yml"))
    }

    fn log_of(&self, host: usize) -> PathBuf {
        self.directory.join(format!("{host}.log"))
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

impl Node {
    /// As Patroni calls it.
    fn name(self) -> String {
        format!("node{}", self.0)
    }

    fn sql(self, sql: &str) -> Result<String, String> {
        answer(&format!("postgres://postgres@{}/postgres", ip(self.0)), sql)
    }
}

/// The settings of a server: Patroni's own, but for the times. A leader counts as gone after 20 s, which is the least
/// that Patroni allows. A new one has no standby to wait for until one finds it, by `loop_wait` and
/// `wal_retrieve_retry_interval`.
fn settings(directory: &Path, node: Node) -> String {
    let (name, own, etcd, programs) = (node.name(), ip(node.0), ip(ETCD), programs());
    let (directory, programs) = (directory.display(), programs.display());
    format!(
        r#"
scope: lendpay
name: {name}
restapi: {{ listen: "{own}:8008", connect_address: "{own}:8008" }}
etcd3: {{ host: "{etcd}:2379" }}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters: {{ max_connections: 100, wal_keep_size: 512MB, wal_retrieve_retry_interval: 500ms }}
  initdb: [encoding: UTF8, locale: C]
postgresql:
  listen: "{own}:5432"
  connect_address: "{own}:5432"
  data_dir: "{directory}/{name}"
  bin_dir: "{programs}"
  pgpass: "{directory}/{name}.pgpass"
  authentication:
    superuser: {{ username: postgres }}
    replication: {{ username: postgres }}
  parameters: {{ unix_socket_directories: "" }}
  pg_hba: ["host all postgres {network}/24 trust", "host replication postgres {network}/24 trust"]
  basebackup: {{ checkpoint: fast }}
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
"#,
        network = ip(250)
    )
}

/// The settings of HAProxy: who leads is asked of Patroni each second, and connections to whoever does not any more
/// end.
fn proxy_settings() -> String {
    let servers = NODES.map(|node| format!("  server {} {}:5432 check port 8008\n", node.name(), ip(node.0))).concat();
    format!(
        r#"
defaults
  mode tcp
  timeout connect 2s
  timeout check 1s
  timeout client 1h
  timeout server 1h
listen leader
  bind {own}:5432
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}"#,
        own = ip(PROXY)
    )
}

/// An address in the network of the hosts.
fn ip(host: usize) -> String {
    format!("10.213.77.{}", host + 1)
}

/// Sends a signal to whatever runs on a host: twice, since it may start something meanwhile, or something may end by
/// itself.
fn signal(host: usize, name: &str) {
    let once = format!(
        "for p in $(ip netns pids lendpay-{host}); do kill -{name} $p 2>/dev/null || [ ! -d /proc/$p ] || exit 1; done"
    );
    sh(&format!("{once}; {once}"));
}

fn sh(script: &str) {
    let output = Command::new("sh").args(["-c", script]).output().expect("sh runs");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}
