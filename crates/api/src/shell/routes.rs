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

fn matches(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted == given => {}
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_matched_segment_by_segment() {
        assert!(matches("/a/{id}/b", "/a/1/b"));
        assert!(matches("/", "/"));
        for path in ["/a//b", "/a/1/b/", "/a/1", "/a/1/2/b", "/", ""] {
            assert!(!matches("/a/{id}/b", path), "{path}");
        }
    }
}
