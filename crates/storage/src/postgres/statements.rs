//! Every statement that the store runs; a test prepares each against a migrated database and compares the types.
//!
//! A row's `ordered_at` is the time of its last change (see `order`), and so its version: an update names the one that it was
//! decided on, and changes nothing if the row has another.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)+) => {
        $($(#[$doc])* pub(super) const $name: &str = $sql;)+

        /// All of them, by name.
        #[cfg(test)]
        pub(super) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name),)+];
    };
}

macro_rules! partner_columns {
    () => {
        "partner_id, name, oauth_client_id, created_at, created_at_ns, ordered_at"
    };
}

macro_rules! key_columns {
    () => {
        "partner_id, key_id, hash, name, areas, created_at, created_at_ns, expires_at, expires_at_ns, revoked_at, \
         revoked_at_ns, last_used_at, last_used_at_ns, ordered_at"
    };
}

macro_rules! offer_columns {
    () => {
        "o.partner_id, o.application_id, o.offer_id, o.details, o.funding_type, o.offer_type, o.annual_percentage_rate, \
         o.interest_rate, o.expiry_at, o.expiry_at_ns, o.redirect_url, o.amount, o.duration, o.status, \
         o.status_changed_at, o.status_changed_at_ns, o.ordered_at"
    };
}

macro_rules! buyer_columns {
    () => {
        "b.partner_id, b.buyer_id, b.name, b.registration_number, b.country_code, b.kind, b.has_bank_account, \
         b.currency_code, b.account_name, b.sort_code, b.account_number, b.bic, b.account_type, b.iban, b.fingerprint, \
         b.created_at, b.created_at_ns"
    };
}

macro_rules! change_columns {
    () => {
        "c.sequence, c.partner_id, c.change_id, c.occurred_at, c.occurred_at_ns, c.actor, c.operation_id, \
         c.application_id, c.offer_id, c.status, c.buyer_id"
    };
}

statements! {
    /// Partners are not held: every creation of a buyer looks at one, and the groups would wait for each other.
    LOAD_PARTNERS = concat!("SELECT ", partner_columns!(), " FROM partners WHERE partner_id = ANY ($1::uuid[])");
    /// Other rows that a group may change are held until its end: clients, keys, offers, and those of a table in the order of
    /// their keys, so that no two groups wait for each other.
    LOAD_CLIENTS = "SELECT oauth_client_id, partner_id, ordered_at FROM oauth_clients \
         WHERE oauth_client_id = ANY ($1::text[]) ORDER BY oauth_client_id FOR UPDATE";
    LOAD_KEYS = concat!(
        "SELECT ", key_columns!(), " FROM api_keys k WHERE (partner_id, key_id) IN \
         (SELECT * FROM unnest($1::uuid[], $2::uuid[]) UNION \
         SELECT h.partner_id, h.key_id FROM api_keys h WHERE h.hash = ANY ($3::bytea[])) \
         ORDER BY partner_id, key_id FOR UPDATE OF k"
    );
    LOAD_OFFERS = concat!(
        "SELECT ", offer_columns!(), " FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) \
         AS k (partner_id, application_id, offer_id) JOIN offers o ON o.partner_id = k.partner_id \
         AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         ORDER BY o.partner_id, o.application_id, o.offer_id FOR UPDATE OF o"
    );
    /// The same without those that another session holds.
    LOAD_FREE_OFFERS = concat!(
        "SELECT ", offer_columns!(), " FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) \
         AS k (partner_id, application_id, offer_id) JOIN offers o ON o.partner_id = k.partner_id \
         AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         ORDER BY o.partner_id, o.application_id, o.offer_id FOR UPDATE OF o SKIP LOCKED"
    );
    OFFERS_THERE = "SELECT o.application_id, o.offer_id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) \
         AS k (partner_id, application_id, offer_id) JOIN offers o ON o.partner_id = k.partner_id \
         AND o.application_id = k.application_id AND o.offer_id = k.offer_id";
    /// Applications and buyers never change.
    LOAD_APPLICATIONS = "SELECT application_id, partner_id, ordered_at FROM applications \
         WHERE application_id = ANY ($1::uuid[])";
    LOAD_BUYERS = concat!("SELECT ", buyer_columns!(), " FROM buyers b WHERE b.buyer_id = ANY ($1::uuid[])");

    INSERT_PARTNERS = "INSERT INTO partners SELECT *, $1::timestamptz \
         FROM unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::smallint[])";
    UPDATE_PARTNERS = "UPDATE partners p SET name = k.name, oauth_client_id = k.client, created_at = k.at, \
         created_at_ns = k.ns, ordered_at = $1 \
         FROM unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::smallint[], $7::timestamptz[]) \
         AS k (partner_id, name, client, at, ns, version) WHERE p.partner_id = k.partner_id AND p.ordered_at = k.version";
    /// The row stays: whoever takes the client next has to come after this change.
    RELEASE_CLIENTS = "UPDATE oauth_clients c SET partner_id = NULL, ordered_at = $1 \
         FROM unnest($2::text[], $3::uuid[]) AS k (client, partner_id) \
         WHERE c.oauth_client_id = k.client AND c.partner_id = k.partner_id";
    TAKE_CLIENTS = "INSERT INTO oauth_clients AS c SELECT *, $1::timestamptz FROM unnest($2::text[], $3::uuid[]) \
         ON CONFLICT (oauth_client_id) DO UPDATE SET partner_id = excluded.partner_id, ordered_at = excluded.ordered_at \
         WHERE c.partner_id IS NULL RETURNING 1";
    INSERT_KEYS = "INSERT INTO api_keys SELECT *, $1::timestamptz FROM unnest($2::uuid[], $3::uuid[], $4::bytea[], \
         $5::text[], $6::text[], $7::timestamptz[], $8::smallint[], $9::timestamptz[], $10::smallint[], $11::timestamptz[], \
         $12::smallint[], $13::timestamptz[], $14::smallint[])";
    UPDATE_KEYS = "UPDATE api_keys a SET hash = k.hash, name = k.name, areas = k.areas, created_at = k.created, \
         created_at_ns = k.created_ns, expires_at = k.expires, expires_at_ns = k.expires_ns, revoked_at = k.revoked, \
         revoked_at_ns = k.revoked_ns, last_used_at = k.used, last_used_at_ns = k.used_ns, ordered_at = $1 \
         FROM unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::text[], $6::text[], $7::timestamptz[], $8::smallint[], \
         $9::timestamptz[], $10::smallint[], $11::timestamptz[], $12::smallint[], $13::timestamptz[], $14::smallint[], \
         $15::timestamptz[]) AS k (partner_id, key_id, hash, name, areas, created, created_ns, expires, expires_ns, revoked, \
         revoked_ns, used, used_ns, version) \
         WHERE a.partner_id = k.partner_id AND a.key_id = k.key_id AND a.ordered_at = k.version";
    INSERT_APPLICATIONS = "INSERT INTO applications SELECT *, $1::timestamptz FROM unnest($2::uuid[], $3::uuid[])";
    INSERT_OFFERS = "INSERT INTO offers SELECT *, $1::timestamptz FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], \
         $5::text[], $6::text[], $7::text[], $8::numeric[], $9::numeric[], $10::timestamptz[], $11::smallint[], $12::text[], \
         $13::numeric[], $14::text[], $15::text[], $16::timestamptz[], $17::smallint[])";
    UPDATE_TERMS = "UPDATE offers o SET details = k.details, funding_type = k.funding, offer_type = k.kind, \
         annual_percentage_rate = k.apr, interest_rate = k.interest, expiry_at = k.expiry, expiry_at_ns = k.expiry_ns, \
         redirect_url = k.url, amount = k.amount, duration = k.duration \
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::numeric[], \
         $9::timestamptz[], $10::smallint[], $11::text[], $12::numeric[], $13::text[], $14::timestamptz[]) \
         AS k (partner_id, application_id, offer_id, details, funding, kind, apr, interest, expiry, expiry_ns, url, amount, \
         duration, version) WHERE o.partner_id = k.partner_id AND o.application_id = k.application_id \
         AND o.offer_id = k.offer_id AND o.ordered_at = k.version";
    UPDATE_STATUS = "UPDATE offers o SET status = k.status, status_changed_at = k.at, status_changed_at_ns = k.ns, \
         ordered_at = $1 FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[], $7::smallint[], \
         $8::timestamptz[]) AS k (partner_id, application_id, offer_id, status, at, ns, version) \
         WHERE o.partner_id = k.partner_id AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         AND o.ordered_at = k.version";
    INSERT_BUYERS = "INSERT INTO buyers SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], \
         $6::integer[], $7::boolean[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], \
         $14::text[], $15::bytea[], $16::timestamptz[], $17::smallint[])";
    INSERT_CHANGES = "INSERT INTO changes SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], \
         $5::text[], $6::timestamptz[], $7::smallint[], $8::text[], $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], \
         $13::uuid[], $14::bytea[])";

    FIND_PARTNER = concat!("SELECT ", partner_columns!(), " FROM partners WHERE partner_id = $1");
    LIST_PARTNERS = concat!(
        "SELECT ", partner_columns!(), " FROM partners WHERE $1::uuid IS NULL OR partner_id > $1 \
         ORDER BY partner_id LIMIT $2"
    );
    LIST_APPLICATIONS = "SELECT application_id, partner_id FROM applications \
         WHERE ($1::uuid IS NULL OR application_id > $1) AND ($2::uuid IS NULL OR partner_id = $2) \
         ORDER BY application_id LIMIT $3";
    OWNER = "SELECT partner_id FROM applications WHERE application_id = $1";
    FIND_OFFER = concat!(
        "SELECT ", offer_columns!(), " FROM offers o WHERE o.partner_id = $1 AND o.application_id = $2 AND o.offer_id = $3"
    );
    LIST_OFFERS = concat!(
        "SELECT ", offer_columns!(), " FROM offers o WHERE ($1::uuid IS NULL OR o.partner_id = $1) \
         AND ($2::uuid IS NULL OR o.application_id = $2) \
         AND ($3::uuid IS NULL OR (o.application_id, o.offer_id) > ($3, $4::uuid)) \
         ORDER BY o.application_id, o.offer_id LIMIT $5"
    );
    FIND_CLIENT = "SELECT partner_id, ordered_at FROM oauth_clients WHERE oauth_client_id = $1 AND partner_id IS NOT NULL";
    FIND_KEY = concat!("SELECT ", key_columns!(), " FROM api_keys WHERE hash = $1");
    LIST_KEYS = concat!(
        "SELECT ", key_columns!(), " FROM api_keys WHERE partner_id = $1 AND ($2::uuid IS NULL OR key_id > $2) \
         ORDER BY key_id LIMIT $3"
    );
    PARTNER_IS_THERE = "SELECT 1 FROM partners WHERE partner_id = $1";
    FIND_BUYER = concat!("SELECT ", buyer_columns!(), " FROM buyers b WHERE b.buyer_id = $1");
    LIST_BUYERS = concat!(
        "SELECT ", buyer_columns!(), " FROM buyers b WHERE ($1::uuid IS NULL OR b.buyer_id > $1) \
         AND ($2::uuid IS NULL OR b.partner_id = $2) ORDER BY b.buyer_id LIMIT $3"
    );
    LIST_BUYERS_BY_NUMBER = concat!(
        "SELECT ", buyer_columns!(), " FROM buyers b WHERE left(b.registration_number, 256) = left($1, 256) \
         AND b.registration_number = $1 AND ($2::uuid IS NULL OR b.buyer_id > $2) \
         AND ($3::uuid IS NULL OR b.partner_id = $3) ORDER BY b.buyer_id LIMIT $4"
    );

    CHANGES_WAIT = "SELECT EXISTS (SELECT 1 FROM changes WHERE sequence IS NULL)";
    /// Holds everybody else who numbers, and nobody who writes.
    LOCK_COUNTER = "SELECT last FROM change_counter WHERE one = 1 FOR UPDATE";
    NUMBER_CHANGES = "WITH waiting AS (SELECT partner_id, ordered_at, change_id, row_number() OVER (ORDER BY ordered_at, change_id) AS n \
         FROM (SELECT partner_id, change_id, ordered_at FROM changes WHERE sequence IS NULL ORDER BY ordered_at, change_id \
         LIMIT $2) AS first) \
         UPDATE changes c SET sequence = $1::bigint + waiting.n FROM waiting \
         WHERE c.partner_id = waiting.partner_id \
         AND c.ordered_at = waiting.ordered_at AND c.change_id = waiting.change_id";
    SET_COUNTER = "UPDATE change_counter SET last = $1 WHERE one = 1";
    BEGIN_HISTORY = "UPDATE change_counter SET last = $1, history = $2 WHERE one = 1";
    HISTORY = "SELECT history FROM change_counter WHERE one = 1";
    /// With the history and the end that they belong to, in one moment; these alone if there are no events.
    LIST_EVENTS = concat!(
        "SELECT e.history, e.last, ", change_columns!(), " FROM change_counter e LEFT JOIN LATERAL (SELECT * FROM changes \
         WHERE sequence > $1 AND (status IS NOT NULL OR buyer_id IS NOT NULL) ORDER BY sequence LIMIT $2) c ON true \
         WHERE e.one = 1 ORDER BY c.sequence"
    );
    EXPORT = concat!(
        "SELECT ", change_columns!(), ", c.body, ", buyer_columns!(), " FROM changes c \
         LEFT JOIN buyers b ON b.buyer_id = c.buyer_id \
         WHERE c.sequence > $1 ORDER BY c.sequence LIMIT $2"
    );

    IS_EMPTY = "SELECT NOT EXISTS (SELECT 1 FROM changes)";
    /// Whether it takes writes, and how many standbys a commit may wait for, as far as this user may see that.
    IS_WRITABLE = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off', \
         (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))";
    COMMITS_WAIT = "SELECT current_setting('synchronous_commit') NOT IN ('off', 'local')";
}
