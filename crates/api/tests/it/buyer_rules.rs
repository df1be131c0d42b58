//! Contract 2.4: what makes a buyer acceptable, rule by rule.

use crate::context::samples::buyer;
use crate::context::{BUYERS, Context};
use lendpay_api::PartnerSettings;
use lendpay_domain::query::Scope;
use lendpay_domain::buyer_checks::BuyerChecks;
use lendpay_domain::BuyerId;
use lendpay_domain::store::Queries as _;
use serde_json::{Value, json};

/// `value` as the field at `path`, nothing else.
fn only(path: &str, value: Value) -> Value {
    match path.split_once('.') {
        Some((outer, inner)) => json!({ outer: { inner: value } }),
        None => json!({ path: value }),
    }
}

/// Sees to it that the payload is not acceptable because of exactly these fields, in any order.
async fn is_refused(context: &Context, payload: &Value, paths: &[&str]) {
    let answer = context.partner_a().create(payload).await;
    assert_eq!(answer.status, 400, "{payload} {answer:?}");
    let errors = answer.errors();
    let mut found: Vec<_> = errors.iter().map(|e| e.split_once(": ").expect("a path and a message").0).collect();
    let mut wanted = paths.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted, "{payload} {errors:?}");
}

/// Sees to it that the one field is not acceptable with any of these values.
async fn are_refused<T: Into<Value>>(path: &str, values: impl IntoIterator<Item = T>) {
    let context = Context::new().await;
    for value in values {
        is_refused(&context, &only(path, value.into()), &[path]).await;
    }
    assert_eq!(context.events().await, [], "nothing is created");
}

/// Sees to it that each value is acceptable in the field, and is kept as told.
async fn are_kept(path: &str, values: &[(&str, &str)]) {
    let context = Context::new().await;
    for (given, wanted) in values {
        let answer = context.partner_a().create(&only(path, (*given).into())).await;
        assert_eq!(answer.status, 201, "{path} {given} {answer:?}");
        let id = BuyerId::parse(answer.json()["id"].as_str().expect("an id")).expect("a UUID");
        let kept =
            context.store().find_buyer(Scope::All, id).await.expect("the store works").expect("the buyer is there").description;
        let account = kept.bank_account.unwrap_or_default();
        let kept = match path {
            "name" => kept.name,
            "registrationNumber" => kept.registration_number,
            "countryCode" => kept.country_code,
            "bankAccount.currencyCode" => account.currency_code,
            "bankAccount.accountName" => account.account_name,
            "bankAccount.sortCode" => account.sort_code,
            "bankAccount.accountNumber" => account.account_number,
            "bankAccount.bic" => account.bic,
            "bankAccount.accountType" => account.account_type,
            "bankAccount.iban" => account.iban,
            other => panic!("no field {other}"),
        };
        assert_eq!(kept.as_deref(), Some(*wanted), "{path} {given}");
    }
}

#[tokio::test]
async fn type_is_0() {
    are_refused("type", [1, -1, 2, i32::MAX, i32::MIN]).await;
    let context = Context::new().await;
    assert_eq!(context.partner_a().create(&json!({ "type": 0 })).await.json()["type"], 0);
}

#[tokio::test]
async fn texts_have_a_visible_character_and_no_bidirectional_controls() {
    for path in ["name", "bankAccount.accountName", "registrationNumber", "bankAccount.accountType"] {
        are_kept(path, &[("شركة\u{200f} a\u{200d}b", "شركة\u{200f} a\u{200d}b")]).await;
        let mut bad: Vec<_> = ["\u{200b}", "\u{ad}\u{2060} \u{feff}", "\u{3164}", "\u{2800}"].map(str::to_owned).to_vec();
        bad.extend(('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').map(|c| format!("a{c}b")));
        are_refused(path, bad).await;
    }
}

#[tokio::test]
async fn texts_have_1_to_256_or_64_characters_and_no_control_characters_and_are_trimmed() {
    for (path, most) in
        [("name", 256), ("bankAccount.accountName", 256), ("registrationNumber", 64), ("bankAccount.accountType", 64)]
    {
        let longest = "é".repeat(most);
        are_kept(path, &[("x", "x"), (&longest, &longest), (" \t Ørsted 株式会社 \n", "Ørsted 株式会社")]).await;
        let too_long = "é".repeat(most + 1);
        are_refused(path, ["", "   ", &too_long, "a\nb", "a\u{0}b", "a\u{7f}b", "a\u{85}b"]).await;
    }
}

#[tokio::test]
async fn country_code_is_iso_3166_1_alpha_2_and_is_upper_cased() {
    are_kept("countryCode", &[("GB", "GB"), ("de", "DE"), (" fR ", "FR")]).await;
    are_refused("countryCode", ["", "G", "GBR", "UK", "XX", "ZZ", "826", "Germany", "ÅX"]).await;
}

#[tokio::test]
async fn currency_code_is_an_active_code_of_iso_4217_and_is_upper_cased() {
    are_kept("bankAccount.currencyCode", &[("GBP", "GBP"), ("eur", "EUR"), (" Usd ", "USD")]).await;
    are_refused("bankAccount.currencyCode", ["", "GB", "DEM", "HRK", "ABC", "826", "£££"]).await;
    // No currency, tests, metals, units of account, funds.
    let no_money = ["XXX", "XTS", "XAU", "xag", "XPT", "XPD", "XDR", "XUA", "XBA", "XAD", "BOV", "CHE", "CLF", "USN", "UYI"];
    are_refused("bankAccount.currencyCode", no_money).await;
}

#[tokio::test]
async fn iban_is_iso_13616_and_loses_its_spaces() {
    let good = [
        ("GB33BUKB20201555555555", "GB33BUKB20201555555555"),
        ("GB33 BUKB 2020 1555 5555 55", "GB33BUKB20201555555555"),
        (" de89 3704 0044 0532 0130 00 ", "DE89370400440532013000"),
        ("NO9386011117947", "NO9386011117947"),
        ("MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"),
    ];
    are_kept("bankAccount.iban", &good).await;
    let bad = [
        ("", "empty"),
        ("GB34BUKB20201555555555", "check digits"),
        ("GB33BUKB20201555555556", "a wrong digit"),
        ("GB33BUKB2020155555555", "too short"),
        ("GB33BUKB202015555555555", "too long"),
        ("US33BUKB20201555555555", "a country without IBANs"),
        ("ZZ33BUKB20201555555555", "no country"),
        ("GB33-BUKB-2020-1555-5555-55", "hyphens"),
        ("33GBBUKB20201555555555", "the wrong way round"),
        ("not an IBAN", "words"),
    ];
    are_refused("bankAccount.iban", bad.map(|(iban, _)| iban)).await;
}

#[tokio::test]
async fn bic_is_iso_9362_with_a_known_country() {
    let good = [("BUKBGB22", "BUKBGB22"), ("deutdeff500", "DEUTDEFF500"), ("BUKBGB22XXX", "BUKBGB22XXX")];
    are_kept("bankAccount.bic", &good).await;
    are_refused("bankAccount.bic", ["", "BUKBGB2", "BUKBGB22X", "BUKBGB22XXXX", "BUKBZZ22", "BUKB-B22", "BUKB1222"])
        .await;
}

#[tokio::test]
async fn the_countries_of_iban_and_bic_agree_or_share_a_scheme() {
    let context = Context::new().await;
    let pair = |iban: &str, bic: &str| json!({ "bankAccount": { "iban": iban, "bic": bic } });
    let (british, french) = ("GB33BUKB20201555555555", "FR1420041010050500013M02606");
    for (iban, bics) in [
        (british, ["BUKBGB22", "BUKBGG22", "BUKBIM22", "BUKBJE22"]),
        (french, ["BNPAFRPP", "BNPARERX", "BNPANCNX", "BNPAMQMX"]),
    ] {
        for bic in bics {
            assert_eq!(context.partner_a().create(&pair(iban, bic)).await.status, 201, "{iban} {bic}");
        }
    }
    for (iban, bic) in [(british, "DEUTDEFF"), (british, "BNPAFRPP"), (french, "BUKBGG22")] {
        is_refused(&context, &pair(iban, bic), &["bankAccount.bic"]).await;
    }
}

#[tokio::test]
async fn sort_code_has_six_digits_and_loses_hyphens_and_spaces() {
    are_kept("bankAccount.sortCode", &[("202015", "202015"), ("20-20-15", "202015"), (" 20 20 15 ", "202015")]).await;
    are_refused("bankAccount.sortCode", ["", "20201", "2020155", "20/20/15", "abcdef", "２０２０１５"]).await;
}

#[tokio::test]
async fn account_number_beside_a_sort_code_has_6_to_8_digits_and_is_padded_to_8() {
    let context = Context::new().await;
    let beside = |number: &str| json!({ "bankAccount": { "sortCode": "202015", "accountNumber": number } });
    for (given, shown) in [("123456", "****3456"), ("1234567", "****4567"), ("12345678", "****5678")] {
        let answer = context.partner_a().create(&beside(given)).await;
        assert_eq!(answer.json()["bankAccount"]["accountNumber"], shown, "{given}");
    }
    let answer = context.partner_a().create(&beside("123456")).await;
    let id = BuyerId::parse(answer.json()["id"].as_str().expect("an id")).expect("a UUID");
    let kept = context.store().find_buyer(Scope::All, id).await.expect("the store works").expect("the buyer is there");
    let account = kept.description.bank_account.expect("a bank account");
    assert_eq!(account.account_number.as_deref(), Some("00123456"));
    for number in ["", "12345", "123456789", "12345a", "1234-5678"] {
        is_refused(&context, &beside(number), &["bankAccount.accountNumber"]).await;
    }
}

#[tokio::test]
async fn account_number_without_a_sort_code_has_1_to_34_letters_and_digits() {
    let longest = "9".repeat(34);
    are_kept("bankAccount.accountNumber", &[("1", "1"), ("ES12AB", "ES12AB"), (&longest, &longest)]).await;
    let too_long = "9".repeat(35);
    are_refused("bankAccount.accountNumber", ["", "12-34", "1 2", "é1", &too_long]).await;
}

#[tokio::test]
async fn everything_wrong_is_reported_at_once_with_each_path() {
    let context = Context::new().await;
    let payload = json!({
        "name": "", "registrationNumber": 7, "countryCode": "UK", "type": 1,
        "bankAccount": {
            "currencyCode": "DEM", "accountName": "a\u{7}b", "sortCode": "1", "accountNumber": true, "bic": "B",
            "accountType": [], "iban": "GB34BUKB20201555555555",
        },
    });
    let paths = [
        "name",
        "registrationNumber",
        "countryCode",
        "type",
        "bankAccount.currencyCode",
        "bankAccount.accountName",
        "bankAccount.sortCode",
        "bankAccount.accountNumber",
        "bankAccount.bic",
        "bankAccount.accountType",
        "bankAccount.iban",
    ];
    is_refused(&context, &payload, &paths).await;
    assert_eq!(context.events().await, []);
}

#[tokio::test]
async fn no_message_quotes_a_value() {
    let context = Context::new().await;
    let payload = json!({
        "name": "SECRET\u{7}", "countryCode": "SECRET", "type": "SECRET",
        "bankAccount": { "iban": "SECRET", "bic": "SECRET-SECRET", "accountNumber": "SECRET-1", "sortCode": "SECRET" },
    });
    let answer = context.partner_a().create(&payload).await;
    assert_eq!(answer.status, 400);
    assert!(!answer.text().contains("SECRET"), "{answer:?}");
}

/// A partner side that asks for the bare contract.
async fn bare() -> Context {
    Context::with(PartnerSettings { buyer_checks: BuyerChecks::Contract, ..PartnerSettings::default() }).await
}

#[tokio::test]
async fn the_bare_contract_asks_for_types_type_0_and_the_size_limit_only() {
    let context = bare().await;
    let odd = json!({
        "name": "", "registrationNumber": " \u{0}x ", "countryCode": "Atlantis", "type": 0,
        "bankAccount": {
            "currencyCode": "£", "accountName": "n".repeat(1_000), "sortCode": "?", "accountNumber": "12-34-56-78",
            "bic": "b", "accountType": "\t", "iban": "no IBAN at all",
        },
    });
    let answer = context.partner_a().create(&odd).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let mut wanted = odd.clone();
    wanted["id"] = answer.json()["id"].clone();
    wanted["createdAt"] = answer.json()["createdAt"].clone();
    wanted["bankAccount"]["accountNumber"] = "*******6-78".into();
    wanted["bankAccount"]["iban"] = "********** all".into();
    assert_eq!(answer.json(), wanted, "kept as given, masked as ever");
    is_refused(&context, &json!({ "type": 1 }), &["type"]).await;
    is_refused(&context, &json!({ "name": 1, "bankAccount": { "iban": 1 } }), &["name", "bankAccount.iban"]).await;
    context.partner_a().post(BUYERS).body(vec![b' '; 65_537]).send().await.is_error(413, None);
}

#[tokio::test]
async fn the_full_rules_are_the_default() {
    let context = Context::new().await;
    assert_eq!(context.partner_a().create(&buyer()).await.status, 201);
    is_refused(&context, &json!({ "countryCode": "Atlantis" }), &["countryCode"]).await;
}
