//! Which addresses there are, as templates: for log lines, preflights and the header `Allow`.

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

impl Routes {
    /// The address that `path` is an instance of, and its number.
    pub fn find(&self, path: &str) -> Option<(usize, &Route)> {
        self.0.iter().enumerate().find(|(_, route)| matches(&route.template, path))
    }
}

/// As the router does it: an empty segment is an id too, though none that anything has.
fn matches(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template, path);
    while let Some((literal, rest)) = wanted.split_once('{') {
        let Some(after) = given.strip_prefix(literal) else { return false };
        given = &after[after.find('/').unwrap_or(after.len())..];
        wanted = rest.split_once('}').map_or("", |(_, rest)| rest);
    }
    wanted == given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_matched_segment_by_segment() {
        assert!(matches("/a/{id}/b", "/a/1/b"));
        assert!(matches("/a/{id}/b", "/a//b"));
        assert!(matches("/", "/") && matches("/a/{id}", "/a/1"));
        for path in ["/a/1/b/", "/a/1", "/a/1/2/b", "/", ""] {
            assert!(!matches("/a/{id}/b", path), "{path}");
        }
    }
}
