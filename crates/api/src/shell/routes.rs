//! Which addresses there are, as templates: for finding operations, log lines, preflights and the header `Allow`.

use std::ops::Range;

/// One address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The path as the document writes it: `/a/{id}`.
    pub template: String,
    /// The methods that it knows, as in the header `Allow`.
    pub allow: String,
    /// Whether a page of another origin may call it, so that preflights are answered.
    pub preflight: bool,
    /// The most bytes that a body may have.
    pub body: usize,
}

/// Every address of a side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes(pub Vec<Route>);

/// The address of a request.
#[derive(Debug)]
pub(crate) struct Found {
    /// The number of its route.
    pub number: usize,
    /// Where its ids are in the path.
    pub ids: Vec<Range<usize>>,
}

impl Routes {
    /// The address that `path` is an instance of.
    pub fn find(&self, path: &str) -> Option<(Found, &Route)> {
        let routes = self.0.iter().enumerate();
        routes.filter_map(|(number, route)| Some((Found { number, ids: ids(&route.template, path)? }, route))).next()
    }
}

/// Where `path` has the ids of the template. As poem's router does it: an empty segment is an id too, though none that
/// anything has.
fn ids(template: &str, path: &str) -> Option<Vec<Range<usize>>> {
    let (mut wanted, mut at, mut ids) = (template, 0, Vec::new());
    while let Some((literal, rest)) = wanted.split_once('{') {
        let after = path[at..].strip_prefix(literal)?;
        let begin = at + literal.len();
        at = begin + after.find('/').unwrap_or(after.len());
        ids.push(begin..at);
        wanted = rest.split_once('}').map_or("", |(_, rest)| rest);
    }
    (wanted == &path[at..]).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_matched_segment_by_segment() {
        let ids = |template, path| {
            super::ids(template, path).map(|ids| ids.into_iter().map(|id| &path[id]).collect::<Vec<_>>().join(" "))
        };
        for (template, path, found) in
            [("/a/{id}/b", "/a/1/b", "1"), ("/a/{id}/b", "/a//b", ""), ("/", "/", ""), ("/a/{x}/{y}", "/a/1/23", "1 23")]
        {
            assert_eq!(ids(template, path).as_deref(), Some(found), "{path}");
        }
        for path in ["/a/1/b/", "/a/1", "/a/1/2/b", "/", ""] {
            assert_eq!(ids("/a/{id}/b", path), None, "{path}");
        }
    }
}
