//! Pages of lists.

/// A page: poem-openapi would name a generic one after its parameter, and these names are in clients.
macro_rules! page_of {
    ($item:ty, $(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, poem_openapi::Object, serde::Serialize)]
        pub struct $name {
            /// The items.
            pub items: Vec<$item>,
            /// Pass it as `after` for the next page; null at the end.
            #[oai(nullable)]
            pub next: Option<String>,
        }

        impl<T: Into<$item>, C: std::fmt::Display> From<lendpay_domain::page::Page<T, C>> for $name {
            fn from(page: lendpay_domain::page::Page<T, C>) -> Self {
                let items = page.items.into_iter().map(Into::into).collect();
                Self { items, next: page.next.map(|cursor| cursor.to_string()) }
            }
        }
    };
}
pub(crate) use page_of;
