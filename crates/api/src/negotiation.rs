//! Which form of an answer a request asks for.

use poem::http::HeaderMap;
use poem::http::header::{ACCEPT_ENCODING, AsHeaderName, IF_NONE_MATCH};

/// The elements of a list that may be spread over several header lines (RFC 9110, section 5.6.1).
fn elements(headers: &HeaderMap, name: impl AsHeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|element| !element.is_empty())
}

/// Whether gzip is acceptable, and no less welcome than the page as it is (RFC 9110, section 12.5.3).
pub(crate) fn prefers_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut identity, mut others) = (None, None, None);
    for element in elements(headers, ACCEPT_ENCODING) {
        let (coding, weight) = element.split_once(';').map_or((element, Some(1.0)), |(coding, parameters)| {
            let weight = parameters.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
            (coding.trim(), weight.and_then(|(_, value)| value.trim().parse().ok()))
        });
        // What cannot be read is not asked for.
        let Some(weight) = weight.filter(|weight: &f32| (0.0..=1.0).contains(weight)) else { continue };
        match &*coding.to_ascii_lowercase() {
            "gzip" | "x-gzip" => gzip = Some(weight),
            "identity" => identity = Some(weight),
            "*" => others = Some(weight),
            _ => {}
        }
    }
    let gzip = gzip.or(others).unwrap_or(0.0);
    // An identity that is not named is acceptable, with no weight of its own.
    gzip > 0.0 && gzip >= identity.unwrap_or(0.0)
}

/// Whether the client has what this tag is of already (RFC 9110, section 13.1.2: weak comparison).
pub(crate) fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    elements(headers, IF_NONE_MATCH).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide_between_gzip_and_the_page_as_it_is() {
        let prefers = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT_ENCODING, line.parse().expect("a value"));
            }
            prefers_gzip(&headers)
        };
        for yes in [
            &["gzip"][..],
            &["br, GZIP;q=0.5"],
            &["br", "gzip ; q=1.0"],
            &["x-gzip"],
            &["*"],
            &["gzip;q=0.001, *;q=0"],
            &["gzip;q=0.5, identity;q=0.5"],
            &["identity;q=0, *;q=0.1"],
        ] {
            assert!(prefers(yes), "{yes:?}");
        }
        for no in [
            &[][..],
            &[""],
            &["br"],
            &["gzip;q=0"],
            &["gzip;q=0.000, *"],
            &["identity, gzip;q=0.9"],
            &["gzip;q=2"],
            &["gzip;q=x"],
            &["gzip;level=1"],
            &["*;q=0"],
        ] {
            assert!(!prefers(no), "{no:?}");
        }
    }
}
