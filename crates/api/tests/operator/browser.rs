//! A browser that keeps a cookie, follows no redirect and runs no script, and what holds for every page of the console.

use crate::context::{Answer, Context};
use lendpay_domain::operator::Role;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Mutex;

pub const HOME: &str = "/operator/console";

pub struct Browser<'a> {
    pub context: &'a Context,
    pub cookie: Mutex<Option<String>>,
}

/// A form with these fields.
pub fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

/// What stands in a page after some text, up to a quotation mark.
pub fn after<'a>(page: &'a str, before: &str) -> Option<&'a str> {
    page.split_once(before)?.1.split_once('"').map(|(value, _)| value)
}

/// The token of a page's forms.
pub fn token(page: &str) -> String {
    after(page, "name=\"token\" value=\"").expect("a form with a token").to_owned()
}

/// Every address of the console that a page leads to.
pub fn links(page: &str) -> Vec<String> {
    let hrefs = page.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    let hrefs = hrefs.map(|(href, _)| href.replace("&amp;", "&"));
    hrefs.filter(|href| href.starts_with(HOME) && !href.ends_with(".css")).collect()
}

impl<'a> Browser<'a> {
    pub const fn new(context: &'a Context) -> Self {
        Self { context, cookie: Mutex::new(None) }
    }

    /// One that has signed in.
    pub async fn of(context: &'a Context, role: Role) -> Self {
        let browser = Self::new(context);
        browser.sign_in(context.key_of(role)).await.leads_to(HOME);
        browser
    }

    pub async fn sign_in(&self, key: &str) -> Answer {
        let page = self.get(&format!("{HOME}/sign-in")).await.page(200);
        self.post(&format!("{HOME}/sign-in"), &form(&[("token", &token(&page)), ("key", key)])).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "").await
    }

    pub async fn post(&self, path: &str, form: &str) -> Answer {
        self.send("POST", path, form).await
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let cookie = self.cookie.lock().expect("not poisoned").clone();
        let cookie = cookie.map(|cookie| format!("other=1; lendpay-console={cookie}; more=2"));
        let mut headers: Vec<_> = cookie.iter().map(|cookie| ("cookie", cookie.as_str())).collect();
        if method == "POST" {
            headers.push(("content-type", "application/x-www-form-urlencoded"));
        }
        let answer = self.context.send(method, path, &headers, body).await;
        answer.check_page(path);
        if let Some(set) = answer.headers.get("set-cookie") {
            let set = set.to_str().expect("ASCII");
            let (pair, attributes) = set.split_once("; ").expect("attributes");
            let value = pair.strip_prefix("lendpay-console=").expect("the console's");
            let lasts = if value.is_empty() { 0 } else { 28_800 };
            let wanted = format!("Max-Age={lasts}; HttpOnly; SameSite=Strict; Path=/operator/console");
            assert_eq!(attributes, wanted, "{path}");
            *self.cookie.lock().expect("not poisoned") = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
        answer
    }
}

impl Answer {
    /// The page, with this status.
    #[track_caller]
    pub fn page(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{:?} {}", self.headers, self.text());
        self.text().to_owned()
    }

    /// The answer leads elsewhere; where.
    #[track_caller]
    pub fn leads(&self) -> &str {
        assert_eq!((self.status, self.text()), (303, ""));
        self.headers["location"].to_str().expect("ASCII")
    }

    #[track_caller]
    pub fn leads_to(&self, path: &str) {
        assert_eq!(self.leads(), path);
    }

    /// What holds for every answer of the console: nobody keeps it, frames it, or runs something in it.
    #[track_caller]
    fn check_page(&self, path: &str) {
        let header = |name: &str| self.headers.get(name).map(|value| value.to_str().expect("ASCII"));
        assert_eq!(header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(header("x-content-type-options"), Some("nosniff"), "{path}");
        if header("content-type") == Some("application/json") {
            return;
        }
        assert_eq!(header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(header("referrer-policy"), Some("no-referrer"), "{path}");
        let policy = header("content-security-policy").expect("a policy");
        for part in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{path} {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert_eq!(header("cross-origin-opener-policy"), Some("same-origin"), "{path}");
        let text = self.text().to_lowercase();
        for word in ["<script", "javascript:", " style=", "<iframe", "http-equiv"] {
            assert!(!text.contains(word), "{path} {word} {text}");
        }
        for at in ["src=\"", "href=\"", "action=\""] {
            for (address, _) in text.split(at).skip(1).filter_map(|rest| rest.split_once('"')) {
                let own = address.starts_with(HOME) || ["data:,", "#main"].contains(&address);
                assert!(own, "{path} names {address}");
            }
        }
    }
}
