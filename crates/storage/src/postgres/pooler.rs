//! Poolers between the store and the database.
//!
//! One that gives each transaction a session of the database (PgBouncer with `pool_mode = transaction`) gives it to
//! another connection next. What was prepared is in another session then, and another process may have prepared
//! something else under its name. So the store looks for such a pooler before anything else, and behind one it prepares
//! nothing: each statement is sent unnamed, with the types of its parameters, and planned each time.

use super::error::DbError;
use super::session::Parameters;
use super::statements;
use std::collections::HashMap;
use std::sync::LazyLock;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// Which of two connections is asked for its session. A pooler gives the session that was used last to whoever comes
/// next, or the one that was not used for longest: then two that take turns may seem to have one each. More often than
/// needed, as other processes take sessions too.
const ASKED: [usize; 9] = [0, 1, 1, 0, 0, 1, 0, 1, 1];

/// Whether the sessions of two connections pass from one to the other.
pub(super) async fn shares_sessions(one: &Client, other: &Client) -> Result<bool, DbError> {
    let mut own = [None, None];
    for n in ASKED {
        let session = Some(session([one, other][n]).await?);
        if own[1 - n] == session || own[n].is_some_and(|own| Some(own) != session) {
            tracing::info!(
                "a pooler gives each transaction another session of the database: statements are planned each time; with \
                 pool_mode = session they are not"
            );
            return Ok(true);
        }
        own[n] = session;
    }
    Ok(false)
}

/// The number of the session that the next transaction has.
async fn session(client: &Client) -> Result<i32, DbError> {
    Ok(client.query_typed_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?)
}

/// A statement's parameters with their types.
pub(super) fn typed<'a>(sql: &str, parameters: Parameters<'a>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    /// The types that each statement takes.
    static TYPES: LazyLock<HashMap<&str, Vec<Type>>> = LazyLock::new(|| {
        // A test compares the file with what the database says.
        let lines: Vec<_> = include_str!("statements.txt").lines().collect();
        let takes = |statement: &[&'static str]| {
            let takes = statement[1].trim().trim_start_matches("takes").trim();
            takes.split(", ").filter(|name| !name.is_empty()).map(type_of).collect()
        };
        let types = lines.chunks(3).map(|statement| (statement[0], takes(statement)));
        let types: HashMap<&str, Vec<Type>> = types.collect();
        statements::ALL.iter().map(|(name, sql)| (*sql, types[name].clone())).collect()
    });
    parameters.iter().copied().zip(TYPES[sql].iter().cloned()).collect()
}

/// The type with a name.
fn type_of(name: &str) -> Type {
    match name {
        "bool" => Type::BOOL,
        "float8" => Type::FLOAT8,
        "int8" => Type::INT8,
        "text" => Type::TEXT,
        "timestamptz" => Type::TIMESTAMPTZ,
        "uuid" => Type::UUID,
        "_bytea" => Type::BYTEA_ARRAY,
        "_int2" => Type::INT2_ARRAY,
        "_int8" => Type::INT8_ARRAY,
        "_text" => Type::TEXT_ARRAY,
        "_timestamptz" => Type::TIMESTAMPTZ_ARRAY,
        "_uuid" => Type::UUID_ARRAY,
        "bytea" => Type::BYTEA,
        _ => unreachable!("a test compares the types of every statement"),
    }
}
