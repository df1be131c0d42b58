//! The sides of the service: what partners reach and what the operator reaches.

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Partners, on the public listener.
    Partner,
    /// Partners of a sandbox, in place of [`Self::Partner`] (contract 2.16).
    Sandbox,
    /// The operator, on a listener of its own.
    Operator,
}

/// The shape of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// With an `errorCode` (contract 1.4).
    Lending,
    /// Without one (contract 1.4).
    Payments,
    /// As of the payments area, and an `errorCode`.
    Operator,
}

impl Side {
    /// The shape of errors at a path (contract 2.6).
    pub(crate) fn shape(self, path: &str) -> Shape {
        match self {
            Self::Operator => Shape::Operator,
            Self::Partner | Self::Sandbox if is_lending(path) => Shape::Lending,
            Self::Partner | Self::Sandbox => Shape::Payments,
        }
    }

    /// What the addresses of its pages begin with.
    pub(crate) const fn pages(self) -> &'static str {
        match self {
            Self::Operator => "/operator",
            Self::Partner | Self::Sandbox => "",
        }
    }

    /// Whether pages of any origin may call and read the answers (contract 1.1). The operator's listener tells browsers
    /// nothing of the kind: a page that the operator happens to have open must not reach it, not even to read an error.
    pub(crate) const fn is_open_to_pages(self) -> bool {
        !matches!(self, Self::Operator)
    }
}

fn is_lending(path: &str) -> bool {
    path.strip_prefix("/lending").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_under_lending_have_a_lending_error() {
        for path in ["/lending", "/lending/", "/lending/applications/x"] {
            assert_eq!(Side::Partner.shape(path), Shape::Lending, "{path}");
        }
        for path in ["", "/", "/lendingx", "/payments/buyers", "/x/lending"] {
            assert_eq!(Side::Partner.shape(path), Shape::Payments, "{path}");
        }
        assert_eq!(Side::Operator.shape("/lending"), Shape::Operator);
    }
}
