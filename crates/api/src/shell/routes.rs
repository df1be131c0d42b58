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

/// Every address of a side, with what its template has around ids.
#[derive(Debug)]
pub(crate) struct Routes(Vec<(Vec<String>, Route)>);

/// The address of a request.
#[derive(Debug)]
pub(crate) struct Found {
    /// The number of its route.
    pub number: usize,
    /// Where its ids are in the path.
    pub ids: Vec<Range<usize>>,
}

impl Routes {
    pub fn new(routes: Vec<Route>) -> Self {
        Self(routes.into_iter().map(|route| (literals(&route.template), route)).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The address that `path` is an instance of.
    pub fn find(&self, path: &str) -> Option<(Found, &Route)> {
        let mut routes = self.0.iter().enumerate();
        routes.find_map(|(number, (literals, route))| Some((Found { number, ids: ids(literals, path)? }, route)))
    }
}

/// What a template has before, between and after ids.
fn literals(template: &str) -> Vec<String> {
    let after_id = |part: &str| part.split_once('}').map_or(part, |(_, literal)| literal).to_owned();
    template.split('{').map(after_id).collect()
}

/// Where `path` has the ids of a template. As poem's router does it: an empty segment is an id too, though none that
/// anything has.
fn ids(literals: &[String], path: &str) -> Option<Vec<Range<usize>>> {
    let (last, before) = literals.split_last()?;
    let (mut at, mut ids) = (0, Vec::new());
    for literal in before {
        let given = path[at..].strip_prefix(literal.as_str())?;
        let (begin, length) = (at + literal.len(), given.find('/').unwrap_or(given.len()));
        at = begin + length;
        ids.push(begin..at);
    }
    (*last == path[at..]).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_matched_segment_by_segment() {
        let ids = |template, path| {
            super::ids(&literals(template), path)
                .map(|ids| ids.into_iter().map(|id| &path[id]).collect::<Vec<_>>().join(" "))
        };
        for (template, path, found) in [
            ("/a/{id}/b", "/a/1/b", "1"),
            ("/a/{id}/b", "/a//b", ""),
            ("/", "/", ""),
            ("/a/{x}/{y}", "/a/1/23", "1 23"),
        ] {
            assert_eq!(ids(template, path).as_deref(), Some(found), "{path}");
        }
        for path in ["/a/1/b/", "/a/1", "/a/1/2/b", "/", ""] {
            assert_eq!(ids("/a/{id}/b", path), None, "{path}");
        }
    }
}
