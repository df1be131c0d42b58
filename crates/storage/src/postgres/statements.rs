//! Every statement that the store runs. `statements.txt` has their types; a test compares it with what a database says.
//!
//! A row's `ordered_at` is the time of its last change (see `order`), and so its version: an update names the one that
//! it was decided on, and changes nothing if the row has another.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)+) => {
        $($(#[$doc])* pub(super) const $name: &str = $sql;)+

        /// All of them, by name.
        pub(super) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name),)+];
    };
}

macro_rules! offer_columns {
    () => {
        "o.partner_id, o.application_id, o.offer_id, o.terms, o.status, o.status_changed_at, o.status_changed_at_ns, \
         o.ordered_at"
    };
}

/// Offers by both ids, which are arrays, and what becomes of their rows.
macro_rules! offers {
    ($columns:expr, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM unnest($1::uuid[], $2::uuid[]) AS k (application_id, offer_id) \
             JOIN offers o ON o.application_id = k.application_id AND o.offer_id = k.offer_id",
            $rest
        )
    };
}

/// Of so many offers of an index those that may be wanted, and the last one, so that it is seen how far was looked.
/// `$6` is the end of the expiry, or absent.
macro_rules! list_offers {
    ($from:literal) => {
        concat!(
            "SELECT ",
            offer_columns!(),
            ", o.n FROM (SELECT o.*, row_number() OVER (ORDER BY o.application_id, o.offer_id) AS n FROM offers o WHERE ",
            $from,
            " ORDER BY o.application_id, o.offer_id LIMIT $3) AS o WHERE o.n = $3 OR (o.status = ANY ($5::text[]) \
             AND ($6::timestamptz IS NULL OR o.expiry_at <= $6)) ORDER BY o.application_id, o.offer_id LIMIT $4"
        )
    };
}

macro_rules! change_columns {
    () => {
        "c.sequence, c.change_id, c.occurred_at, c.occurred_at_ns, c.actor, c.operation_id, c.partner_id, \
         c.application_id, c.offer_id, c.status, c.buyer_id, c.event_type, c.key_id, c.endpoint_id"
    };
}

/// Events with the history and the end that they belong to, in one moment; these alone if nothing comes after. Of so
/// many changes those that may be wanted, and the last one, so that it is seen how far was looked. The body is that of
/// replaced terms and of a move with a reason: the event says them.
macro_rules! list_events {
    ($of:literal) => {
        concat!(
            "SELECT e.history, e.last, ", change_columns!(), ", c.body, c.n FROM change_counter e LEFT JOIN LATERAL \
             (SELECT * FROM (SELECT ", change_columns!(), ", CASE WHEN offer_id IS NOT NULL \
              AND status IS DISTINCT FROM 'Offered' THEN body END AS body, row_number() OVER (ORDER BY sequence) AS n \
             FROM changes c WHERE ", $of, "sequence > $1 ORDER BY sequence LIMIT $2) AS c \
             WHERE c.n = $2 OR ((c.partner_id IS NOT NULL OR c.endpoint_id IS NOT NULL) AND ($4::uuid[] IS NULL OR c.partner_id = ANY ($4)) \
             AND ($5::uuid IS NULL OR c.application_id = $5) AND ($6::uuid IS NULL OR c.offer_id = $6) \
             AND ($7::uuid IS NULL OR c.buyer_id = $7) AND ($8::uuid IS NULL OR c.operation_id = $8) \
             AND (c.status = ANY ($9::text[]) OR c.status IS NULL AND $10) \
             AND ($11::timestamptz IS NULL OR c.occurred_at >= $11) AND ($12::timestamptz IS NULL OR c.occurred_at <= $12)) \
             ORDER BY c.sequence LIMIT $3) c ON true WHERE e.one = 1 ORDER BY c.sequence"
        )
    };
}

statements! {
    /// Partners are not held: every creation of a buyer looks at one, and the groups would wait for each other.
    LOAD_PARTNERS = "SELECT body, ordered_at FROM partners WHERE partner_id = ANY ($1::uuid[])";
    /// Other rows that a group may change are held until its end: clients, keys, offers, and those of a table in the
    /// order of their keys, so that no two groups wait for each other.
    LOAD_CLIENTS = "SELECT oauth_client_id, partner_id, ordered_at FROM oauth_clients \
         WHERE oauth_client_id = ANY ($1::text[]) ORDER BY oauth_client_id FOR UPDATE";
    LOAD_KEYS = "SELECT body, ordered_at FROM api_keys k WHERE (partner_id, key_id) IN \
         (SELECT * FROM unnest($1::uuid[], $2::uuid[]) UNION \
         SELECT h.partner_id, h.key_id FROM api_keys h WHERE h.hash = ANY ($3::bytea[])) \
         ORDER BY partner_id, key_id FOR UPDATE OF k";
    LOAD_OFFERS = offers!(offer_columns!(), " ORDER BY o.application_id, o.offer_id FOR UPDATE OF o");
    /// The same without those that another session holds.
    LOAD_FREE_OFFERS =
        offers!(offer_columns!(), " ORDER BY o.application_id, o.offer_id FOR UPDATE OF o SKIP LOCKED");
    OFFERS_THERE = offers!("o.application_id, o.offer_id", "");
    /// Applications and buyers never change.
    LOAD_APPLICATIONS = "SELECT application_id, partner_id, ordered_at FROM applications \
         WHERE application_id = ANY ($1::uuid[])";
    LOAD_BUYERS = "SELECT body FROM unnest($1::uuid[], $2::uuid[]) AS k (partner_id, buyer_id) \
         JOIN buyers b ON b.partner_id = k.partner_id AND b.buyer_id = k.buyer_id";
    LOAD_WEBHOOKS = "SELECT body, progress, ordered_at FROM webhooks WHERE endpoint_id = ANY ($1::uuid[]) \
         ORDER BY endpoint_id FOR UPDATE";

    INSERT_PARTNERS = "INSERT INTO partners (ordered_at, partner_id, body) \
         SELECT $1::timestamptz, * FROM unnest($2::uuid[], $3::bytea[])";
    UPDATE_PARTNERS = "UPDATE partners p SET body = k.body, ordered_at = $1 \
         FROM unnest($2::uuid[], $3::bytea[], $4::timestamptz[]) AS k (partner_id, body, version) \
         WHERE p.partner_id = k.partner_id AND p.ordered_at = k.version";
    /// The row stays: whoever takes the client next has to come after this change.
    RELEASE_CLIENTS = "UPDATE oauth_clients c SET partner_id = NULL, ordered_at = $1 \
         FROM unnest($2::text[], $3::uuid[]) AS k (client, partner_id) \
         WHERE c.oauth_client_id = k.client AND c.partner_id = k.partner_id";
    TAKE_CLIENTS = "INSERT INTO oauth_clients AS c SELECT *, $1::timestamptz FROM unnest($2::text[], $3::uuid[]) \
         ON CONFLICT (oauth_client_id) DO UPDATE SET partner_id = excluded.partner_id, ordered_at = excluded.ordered_at \
         WHERE c.partner_id IS NULL";
    INSERT_KEYS = "INSERT INTO api_keys (ordered_at, partner_id, key_id, hash, body) \
         SELECT $1::timestamptz, * FROM unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[])";
    UPDATE_KEYS = "UPDATE api_keys a SET hash = k.hash, body = k.body, ordered_at = $1 \
         FROM unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[], $6::timestamptz[]) \
         AS k (partner_id, key_id, hash, body, version) \
         WHERE a.partner_id = k.partner_id AND a.key_id = k.key_id AND a.ordered_at = k.version";
    INSERT_APPLICATIONS = "INSERT INTO applications SELECT *, $1::timestamptz FROM unnest($2::uuid[], $3::uuid[])";
    INSERT_OFFERS = "INSERT INTO offers SELECT *, $1::timestamptz FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], \
         $5::bytea[], $6::timestamptz[], $7::text[], $8::timestamptz[], $9::smallint[])";
    UPDATE_OFFERS = "UPDATE offers o SET terms = coalesce(k.terms, o.terms), expiry_at = k.expiry_at, status = k.status, \
         status_changed_at = k.at, status_changed_at_ns = k.ns, ordered_at = $1 FROM unnest($2::uuid[], $3::uuid[], \
         $4::uuid[], $5::bytea[], $6::timestamptz[], $7::text[], $8::timestamptz[], $9::smallint[], $10::timestamptz[]) \
         AS k (partner_id, application_id, offer_id, terms, expiry_at, status, at, ns, version) \
         WHERE o.application_id = k.application_id AND o.offer_id = k.offer_id AND o.ordered_at = k.version";
    /// One that has the offer and the moment already says the same.
    INSERT_DUE = "INSERT INTO offers_due SELECT * FROM unnest($1::timestamptz[], $2::uuid[], $3::uuid[]) \
         ON CONFLICT DO NOTHING";
    /// Those that no other process has taken. Where they are stored is how they are found again: while they are held,
    /// and nobody changes such a row, it stays there.
    TAKE_DUE = "SELECT expiry_at, application_id, offer_id, ctid::text FROM offers_due \
         WHERE (expiry_at, application_id, offer_id) > (coalesce($1, '-infinity'::timestamptz), $2, $3) \
         AND expiry_at < $4 ORDER BY expiry_at, application_id, offer_id LIMIT $5 FOR UPDATE SKIP LOCKED";
    DELETE_DUE = "DELETE FROM offers_due WHERE ctid = ANY ($1::text[]::tid[])";
    INSERT_BUYERS = "INSERT INTO buyers SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[])";
    INSERT_CHANGES = "INSERT INTO changes SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], \
         $4::timestamptz[], $5::smallint[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[], $10::uuid[], $11::text[], \
         $12::uuid[], $13::bytea[], $14::text[], $15::uuid[], $16::uuid[])";
    INSERT_WEBHOOKS = "INSERT INTO webhooks (ordered_at, endpoint_id, body, progress) \
         SELECT $1::timestamptz, * FROM unnest($2::uuid[], $3::bytea[], $4::bytea[])";
    UPDATE_WEBHOOKS = "UPDATE webhooks w SET body = k.body, progress = k.progress, ordered_at = $1 \
         FROM unnest($2::uuid[], $3::bytea[], $4::bytea[], $5::timestamptz[]) AS k (endpoint_id, body, progress, version) \
         WHERE w.endpoint_id = k.endpoint_id AND w.ordered_at = k.version";

    /// Lists begin at an id that counts too, and are bounded by it whatever plan the database makes: each filter that
    /// is looked for in an index has a statement of its own.
    LIST_PARTNERS = "SELECT body, ordered_at FROM partners WHERE partner_id >= $1 ORDER BY partner_id LIMIT $2";
    LIST_PARTNERS_BY_CLIENT = "SELECT p.body, p.ordered_at FROM oauth_clients c JOIN partners p ON p.partner_id = c.partner_id \
         WHERE c.oauth_client_id = $1";
    LIST_APPLICATIONS = "SELECT application_id, partner_id FROM applications WHERE application_id >= $1 \
         ORDER BY application_id LIMIT $2";
    LIST_APPLICATIONS_OF = "SELECT application_id, partner_id FROM applications \
         WHERE partner_id = $3 AND application_id >= $1 ORDER BY application_id LIMIT $2";
    FIND_OFFER = concat!(
        "SELECT ", offer_columns!(), " FROM offers o WHERE o.application_id = $1 AND o.offer_id = $2"
    );
    LIST_OFFERS = list_offers!("(o.application_id, o.offer_id) >= ($1, $2)");
    LIST_OFFERS_OF_PARTNER = list_offers!("o.partner_id = $7 AND (o.application_id, o.offer_id) >= ($1, $2)");
    LIST_OFFERS_OF_APPLICATION = list_offers!("o.application_id = $1 AND o.offer_id >= $2");
    FIND_CLIENT = "SELECT partner_id, ordered_at FROM oauth_clients WHERE oauth_client_id = $1 AND partner_id IS NOT NULL";
    FIND_KEY = "SELECT body, ordered_at FROM api_keys WHERE hash = $1";
    KEY_WITH_ID = "SELECT body, ordered_at FROM api_keys WHERE key_id = $1 ORDER BY partner_id LIMIT 1";
    /// Of the partner that comes first, if several have it. A look-up for each partner.
    FIND_BUYER = "SELECT b.body FROM partners p CROSS JOIN LATERAL (SELECT body FROM buyers \
         WHERE partner_id = p.partner_id AND buyer_id = $1 LIMIT 1) b ORDER BY p.partner_id LIMIT 1";

    INSERT_CALLS = "INSERT INTO calls (operation_id, called_at, owner, body) \
         SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::bytea[])";
    CALLS_OF = "SELECT body FROM calls WHERE operation_id = $1 AND called_at >= $2 ORDER BY called_at DESC LIMIT $3";
    DELETE_OLD_CALLS = "DELETE FROM calls WHERE called_at < $1";
    /// The oldest of each owner that has too many bytes: the operator, whoever is not known, or a partner.
    DELETE_OWNERS_CALLS = "DELETE FROM calls WHERE call_id IN (SELECT call_id FROM (SELECT call_id, owner, \
         sum(octet_length(body)) OVER (PARTITION BY owner ORDER BY called_at DESC, call_id) AS held FROM calls) AS c \
         WHERE held > CASE owner WHEN 'operator' THEN $1::bigint WHEN 'nobody' THEN $2::bigint ELSE $3::bigint END)";
    /// The oldest of all, if all have too many bytes together. After the other: what is too much of one takes no
    /// other's space.
    DELETE_MANY_CALLS = "DELETE FROM calls WHERE call_id IN (SELECT call_id FROM (SELECT call_id, \
         sum(octet_length(body)) OVER (ORDER BY called_at DESC, call_id) AS held FROM calls) AS c \
         WHERE held > $1::bigint)";
    LIST_KEYS = "SELECT body, ordered_at FROM api_keys WHERE partner_id = $1 AND key_id >= $2 ORDER BY key_id LIMIT $3";
    LIST_BUYERS = "SELECT body FROM buyers WHERE (partner_id, buyer_id) >= ($1, $2) ORDER BY partner_id, buyer_id LIMIT $3";
    LIST_BUYERS_OF = "SELECT body FROM buyers WHERE partner_id = $1 AND buyer_id >= $2 ORDER BY buyer_id LIMIT $3";
    /// Of partners up to the last one that is wanted. Numbers that begin alike do not make a page longer.
    LIST_BUYERS_BY_NUMBER = "SELECT b.body, b.n FROM (SELECT partner_id, buyer_id, body, registration_number, \
         row_number() OVER (ORDER BY partner_id, buyer_id) AS n FROM buyers \
         WHERE left(registration_number, 256) = left($4, 256) AND (partner_id, buyer_id) >= ($1, $2) AND partner_id <= $6 \
         ORDER BY partner_id, buyer_id LIMIT $5) AS b \
         WHERE b.n = $5 OR b.registration_number = $4 ORDER BY b.partner_id, b.buyer_id LIMIT $3";

    LIST_WEBHOOKS = "SELECT body FROM webhooks WHERE endpoint_id >= $1 ORDER BY endpoint_id LIMIT $2";
    FIND_WEBHOOK = "SELECT body, progress, ordered_at FROM webhooks WHERE endpoint_id = $1";
    /// What another session holds at the moment is passed over: it is asked for again soon.
    HOLD_WEBHOOKS = "WITH free AS (SELECT endpoint_id FROM webhooks WHERE endpoint_id = ANY ($2::uuid[]) \
         AND (holder IS NULL OR holder = $1 OR held_until < clock_timestamp()) ORDER BY endpoint_id FOR UPDATE SKIP LOCKED) \
         UPDATE webhooks w SET holder = $1, held_until = clock_timestamp() + make_interval(secs => $3) FROM free \
         WHERE w.endpoint_id = free.endpoint_id RETURNING w.endpoint_id";
    RELEASE_WEBHOOKS = "UPDATE webhooks SET holder = NULL WHERE holder = $1 RETURNING endpoint_id";

    /// Of $4 requests each comes back after $3 seconds: takes $2 of them, or as many as are left.
    LEASE_REQUESTS = "INSERT INTO rate_limits AS r (partner_id, granted, full_at) VALUES ($1, least($2::bigint, $4::bigint), \
         statement_timestamp() + make_interval(secs => least($2, $4) * $3::float8)) \
         ON CONFLICT (partner_id) DO UPDATE SET (granted, full_at) = \
         (SELECT n, greatest(r.full_at, statement_timestamp()) + make_interval(secs => n * $3) FROM (SELECT greatest(0, \
         least($2, $4, floor($4 - extract(epoch FROM r.full_at - statement_timestamp())::float8 / $3)))::bigint) AS of (n)) \
         RETURNING granted, extract(epoch FROM full_at - statement_timestamp())::float8 AS full_in";

    /// Whether changes wait for a sequence, and the last one that was given.
    CHANGES_WAIT = "SELECT EXISTS (SELECT 1 FROM changes WHERE sequence IS NULL), last FROM change_counter WHERE one = 1";
    /// Holds everybody else who numbers, and nobody who writes.
    LOCK_COUNTER = "SELECT last FROM change_counter WHERE one = 1 FOR UPDATE";
    NUMBER_CHANGES = "WITH waiting AS (SELECT ordered_at, change_id, row_number() OVER (ORDER BY ordered_at, change_id) AS n \
         FROM (SELECT ordered_at, change_id FROM changes WHERE sequence IS NULL ORDER BY ordered_at, change_id LIMIT $2) AS first) \
         UPDATE changes c SET sequence = $1::bigint + waiting.n FROM waiting \
         WHERE c.ordered_at = waiting.ordered_at AND c.change_id = waiting.change_id";
    SET_COUNTER = "UPDATE change_counter SET last = $1 WHERE one = 1";
    BEGIN_HISTORY = "UPDATE change_counter SET last = $1, history = $2 WHERE one = 1";
    HISTORY = "SELECT history FROM change_counter WHERE one = 1";
    LIST_EVENTS = list_events!("");
    /// Of an offer or a buyer.
    LIST_EVENTS_OF_SUBJECT = list_events!("coalesce(c.offer_id, c.buyer_id) = coalesce($6::uuid, $7::uuid) AND ");
    LIST_EVENTS_OF_OPERATION = list_events!("c.operation_id = $8::uuid AND ");
    EXPORT = concat!(
        "SELECT ", change_columns!(), ", coalesce(c.body, b.body) AS body FROM changes c \
         LEFT JOIN buyers b ON b.partner_id = c.partner_id AND b.buyer_id = c.buyer_id \
         WHERE c.sequence > $1 ORDER BY c.sequence LIMIT $2"
    );

    TABLES_VERSION = "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0) FROM lendpay_migrations";
    IS_EMPTY = "SELECT NOT EXISTS (SELECT 1 FROM changes)";
    /// Whether it takes writes, and how many standbys a commit may wait for, as far as this user may see that.
    IS_WRITABLE = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off', \
         (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))";
    COMMITS_WAIT = "SELECT current_setting('synchronous_commit') NOT IN ('off', 'local')";
}
