//! Where everything is kept.

use clap::Args;
use lendpay_storage::PostgresAddress;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A store that is there, or is made.
#[derive(Debug, Args)]
pub struct KeptIn {
    /// Where everything is kept: sled:DIRECTORY, on ext4 or xfs, or a PostgreSQL database,
    /// postgres://USER@HOST,HOST…/DATABASE.
    #[arg(
        long,
        env = "LENDPAY_STORE",
        value_name = "STORE",
        default_value = "sled:./lendpay-data",
        hide_env_values = true
    )]
    pub store: StorePlace,
}

/// `--store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    Sled(PathBuf),
    Postgres(PostgresAddress),
}

impl FromStr for StorePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("sled", path)) if !path.is_empty() => Ok(Self::Sled(path.into())),
            Some(("postgres" | "postgresql", _)) => text.parse().map(Self::Postgres),
            _ => {
                Err("write sled: and a directory, for example sled:./lendpay-data, or postgres: and a database".into())
            }
        }
    }
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sled(path) => write!(f, "sled:{}", path.display()),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_kind_and_a_place() {
        assert_eq!("sled:./data".parse(), Ok(StorePlace::Sled("./data".into())));
        assert_eq!("sled:/a:b".parse(), Ok(StorePlace::Sled("/a:b".into())));
        let database = "postgres://lendpay:secret@one,two:5433/loans".parse::<StorePlace>().expect("a database");
        assert_eq!(database.to_string(), "postgres://one:5432,two:5433/loans");
        for text in ["", "sled", "sled:", "./data", "mysql://x", "postgres://"] {
            assert!(text.parse::<StorePlace>().is_err(), "{text}");
        }
    }
}
