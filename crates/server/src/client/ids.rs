//! What commands name things by: ids, and partners also by their names.

use super::http::Client;
use super::list::pages;
use lendpay_domain::PartnerId;
use uuid::Uuid;

/// How many similar names an error lists.
const LISTED: usize = 10;

/// Reads an id, so that nothing else gets into an address.
pub fn id<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    parse(text).ok_or_else(|| format!("{text} is no id; ids are UUIDs of 36 characters"))
}

/// Reads an id, or makes one.
pub fn id_or_new<T>(
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    new: impl Fn(Uuid) -> T,
) -> Result<T, String> {
    text.map_or_else(|| Ok(new(lendpay_api::uuid())), |text| id(text, parse))
}

/// The partner with this id, or the only one with this name, in upper or lower case.
pub fn partner(client: &Client, text: &str) -> Result<PartnerId, String> {
    if let Some(id) = PartnerId::parse(text) {
        return Ok(id);
    }
    let lower = text.trim().to_lowercase();
    let (mut found, mut named, mut similar) = (None, Vec::new(), Vec::new());
    pages(client, "/operator/partners", &[("name", Some(text.to_owned()))], None, u64::MAX, |partners| {
        for partner in partners {
            let (Some(name), Some(id)) = (partner["name"].as_str(), partner["id"].as_str()) else {
                return Err("the service answered no partners".to_owned());
            };
            let same = name.to_lowercase() == lower;
            let candidates = if same { &mut named } else { &mut similar };
            if candidates.len() < LISTED {
                candidates.push(format!("{name} ({id})"));
            }
            if same && named.len() == 1 {
                found = PartnerId::parse(id);
            }
        }
        Ok(())
    })?;
    match (named.as_slice(), similar.is_empty()) {
        ([_], _) => found.ok_or_else(|| "the service answered no id of a partner".to_owned()),
        ([], true) => Err(format!("no partner is called {text}; `lendpay partner list` lists those there are")),
        ([], false) => Err(format!("no partner is called {text}; similar names: {}", similar.join(", "))),
        _ => Err(format!("several partners are called {text}; give the id of one: {}", named.join(", "))),
    }
}

/// The same for an option.
pub fn some_partner(client: &Client, text: Option<&str>) -> Result<Option<String>, String> {
    text.map(|text| partner(client, text).map(|id| id.to_string())).transpose()
}
