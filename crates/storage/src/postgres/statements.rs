//! Every statement that the store runs; a test prepares each against a migrated database and compares the types.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)+) => {
        $($(#[$doc])* pub(super) const $name: &str = $sql;)+

        /// All of them, by name.
        #[cfg(test)]
        pub(super) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name),)+];
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

macro_rules! key_columns {
    () => {
        "partner_id, key_id, hash, name, areas, created_at, created_at_ns, expires_at, expires_at_ns, revoked_at, \
         revoked_at_ns, last_used_at"
    };
}

macro_rules! event_columns {
    () => {
        "e.partner_id, e.event_id, e.sequence, e.occurred_at, e.occurred_at_ns, e.application_id, e.offer_id, e.status, \
         e.buyer_id, e.actor, e.operation_id"
    };
}

statements! {
    /// The offers of a group, held until its end, in one order for everybody so that no two groups wait for each other.
    LOAD_OFFERS = concat!(
        "SELECT ", offer_columns!(), " FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) \
         AS k (partner_id, application_id, offer_id) JOIN offers o ON o.partner_id = k.partner_id \
         AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         ORDER BY o.partner_id, o.application_id, o.offer_id FOR UPDATE OF o"
    );
    LOAD_BUYERS = concat!(
        "SELECT ", buyer_columns!(), " FROM unnest($1::uuid[], $2::uuid[]) AS k (partner_id, buyer_id) \
         JOIN buyers b ON b.partner_id = k.partner_id AND b.buyer_id = k.buyer_id"
    );
    INSERT_OFFERS = "INSERT INTO offers SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], \
         $6::text[], $7::numeric[], $8::numeric[], $9::timestamptz[], $10::smallint[], $11::text[], $12::numeric[], \
         $13::text[], $14::text[], $15::timestamptz[], $16::smallint[], $17::timestamptz[]) ON CONFLICT DO NOTHING";
    /// Changes nothing of a row that is no longer what it was when it was decided about.
    UPDATE_STATUS = "UPDATE offers o SET status = k.status, status_changed_at = k.at, status_changed_at_ns = k.ns, \
         ordered_at = k.ordered_at FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], \
         $6::timestamptz[], $7::smallint[], $8::timestamptz[]) \
         AS k (partner_id, application_id, offer_id, was, status, at, ns, ordered_at) \
         WHERE o.partner_id = k.partner_id AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         AND o.status = k.was";
    UPDATE_TERMS = "UPDATE offers o SET details = k.details, funding_type = k.funding, offer_type = k.kind, \
         annual_percentage_rate = k.apr, interest_rate = k.interest, expiry_at = k.expiry, expiry_at_ns = k.expiry_ns, \
         redirect_url = k.url, amount = k.amount, duration = k.duration \
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::numeric[], \
         $9::timestamptz[], $10::smallint[], $11::text[], $12::numeric[], $13::text[]) \
         AS k (partner_id, application_id, offer_id, details, funding, kind, apr, interest, expiry, expiry_ns, url, amount, \
         duration) WHERE o.partner_id = k.partner_id AND o.application_id = k.application_id AND o.offer_id = k.offer_id \
         AND o.status = 'Offered'";
    INSERT_BUYERS = "INSERT INTO buyers SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], \
         $6::integer[], $7::boolean[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], \
         $14::text[], $15::bytea[], $16::timestamptz[], $17::smallint[]) ON CONFLICT DO NOTHING";
    INSERT_EVENTS = "INSERT INTO events SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], \
         $5::smallint[], $6::timestamptz[], $7::uuid[], $8::uuid[], $9::text[], $10::uuid[], $11::text[], $12::uuid[])";

    OWNER = "SELECT partner_id FROM applications WHERE application_id = $1";
    OWNERS = "SELECT application_id, partner_id FROM applications WHERE application_id = ANY ($1::uuid[])";
    INSERT_APPLICATION = "INSERT INTO applications SELECT $1::uuid, partner_id FROM partners WHERE partner_id = $2 \
         ON CONFLICT DO NOTHING";
    FIND_OFFER = concat!(
        "SELECT ", offer_columns!(), " FROM applications a JOIN offers o ON o.partner_id = a.partner_id \
         AND o.application_id = a.application_id WHERE a.application_id = $1 AND o.offer_id = $2"
    );
    LIST_OFFERS = concat!(
        "SELECT ", offer_columns!(), " FROM offers o WHERE o.partner_id = $1 AND o.application_id = $2 \
         AND ($3::uuid IS NULL OR o.offer_id > $3) ORDER BY o.offer_id LIMIT $4"
    );

    FIND_PARTNER = "SELECT name, oauth_client_id, created_at, created_at_ns FROM partners WHERE partner_id = $1 FOR UPDATE";
    UPSERT_PARTNER = "INSERT INTO partners VALUES ($1, $2, $3, $4, $5) ON CONFLICT (partner_id) \
         DO UPDATE SET name = excluded.name, oauth_client_id = excluded.oauth_client_id";
    FIND_CLIENT = "SELECT partner_id FROM oauth_clients WHERE oauth_client_id = $1";
    DELETE_CLIENT = "DELETE FROM oauth_clients WHERE oauth_client_id = $1 AND partner_id = $2";
    INSERT_CLIENT = "INSERT INTO oauth_clients VALUES ($1, $2) ON CONFLICT DO NOTHING";

    INSERT_KEY = "INSERT INTO api_keys SELECT $1::uuid, $2::uuid, $3::bytea, $4::text, $5::text[], $6::timestamptz, \
         $7::smallint, $8::timestamptz, $9::smallint, $10::timestamptz, $11::smallint \
         WHERE EXISTS (SELECT 1 FROM partners WHERE partner_id = $1) ON CONFLICT DO NOTHING";
    UPDATE_KEY = "UPDATE api_keys SET hash = $3, name = $4, areas = $5, created_at = $6, created_at_ns = $7, \
         expires_at = $8, expires_at_ns = $9, revoked_at = $10, revoked_at_ns = $11 WHERE partner_id = $1 AND key_id = $2";
    FIND_KEY = concat!("SELECT ", key_columns!(), " FROM api_keys WHERE hash = $1");
    KEY_IS_THERE = "SELECT hash FROM api_keys WHERE partner_id = $1 AND key_id = $2";
    LIST_KEYS = concat!(
        "SELECT ", key_columns!(), " FROM api_keys WHERE partner_id = $1 AND ($2::uuid IS NULL OR key_id > $2) \
         ORDER BY key_id LIMIT $3"
    );
    REVOKE_KEY = "UPDATE api_keys SET revoked_at = $3, revoked_at_ns = $4 WHERE partner_id = $1 AND key_id = $2 \
         AND revoked_at IS NULL";
    USE_KEY = "UPDATE api_keys SET last_used_at = $2 WHERE hash = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    PARTNER_IS_THERE = "SELECT 1 FROM partners WHERE partner_id = $1";

    FIND_BUYER = concat!("SELECT ", buyer_columns!(), " FROM buyers b WHERE b.buyer_id = $1");
    LIST_BUYERS = concat!(
        "SELECT ", buyer_columns!(), " FROM buyers b WHERE ($1::uuid IS NULL OR b.buyer_id > $1) \
         ORDER BY b.buyer_id LIMIT $2"
    );
    LIST_BUYERS_BY_NUMBER = concat!(
        "SELECT ", buyer_columns!(), " FROM buyers b WHERE b.registration_number = $1 \
         AND ($2::uuid IS NULL OR b.buyer_id > $2) ORDER BY b.buyer_id LIMIT $3"
    );

    EVENTS_WAIT = "SELECT EXISTS (SELECT 1 FROM events WHERE sequence IS NULL)";
    /// Holds everybody else who numbers, and nobody who writes.
    LOCK_COUNTER = "SELECT last FROM event_counter WHERE one = 1 FOR UPDATE";
    NUMBER_EVENTS = "WITH waiting AS (SELECT partner_id, event_id, row_number() OVER (ORDER BY ordered_at, event_id) AS place \
         FROM (SELECT partner_id, event_id, ordered_at FROM events WHERE sequence IS NULL ORDER BY ordered_at, event_id \
         LIMIT $2) AS first) \
         UPDATE events e SET sequence = $1::bigint + waiting.place FROM waiting \
         WHERE e.partner_id = waiting.partner_id AND e.event_id = waiting.event_id";
    SET_COUNTER = "UPDATE event_counter SET last = $1 WHERE one = 1";
    LIST_EVENTS = concat!(
        "SELECT ", event_columns!(), " FROM events e WHERE e.sequence > $1 ORDER BY e.sequence LIMIT $2"
    );

    EXPORT_PARTNERS = "SELECT partner_id, name, oauth_client_id, created_at, created_at_ns FROM partners \
         WHERE ($1::uuid IS NULL OR partner_id > $1) ORDER BY partner_id LIMIT $2";
    EXPORT_KEYS = concat!(
        "SELECT ", key_columns!(), " FROM api_keys WHERE ($1::uuid IS NULL OR (partner_id, key_id) > ($1, $2)) \
         ORDER BY partner_id, key_id LIMIT $3"
    );
    EXPORT_APPLICATIONS = "SELECT application_id, partner_id FROM applications \
         WHERE ($1::uuid IS NULL OR application_id > $1) ORDER BY application_id LIMIT $2";
    EXPORT_EVENTS = concat!(
        "SELECT ", event_columns!(), ", ", offer_columns!(), ", ", buyer_columns!(), " FROM events e \
         LEFT JOIN offers o ON e.status = 'Offered' AND o.partner_id = e.partner_id \
         AND o.application_id = e.application_id AND o.offer_id = e.offer_id \
         LEFT JOIN buyers b ON b.partner_id = e.partner_id AND b.buyer_id = e.buyer_id \
         WHERE e.sequence > $1 ORDER BY e.sequence LIMIT $2"
    );

    IS_EMPTY = "SELECT NOT EXISTS (SELECT 1 FROM partners) AND NOT EXISTS (SELECT 1 FROM events)";
    /// Whether it takes writes, and how many standbys a commit may wait for, as far as this user may see that.
    IS_WRITABLE = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off', \
         (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))";
    COMMITS_WAIT = "SELECT current_setting('synchronous_commit') <> 'off'";
}
