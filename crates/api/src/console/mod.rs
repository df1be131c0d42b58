//! The operator's console: pages for people at the lender, rendered here, as HTML without scripts.
//!
//! A page is made of what operations of the operator's side answer: their functions are called as for a request, with
//! the key of who has signed in ([`visit`]). So every role, rule and query is theirs. A session is a sealed cookie
//! ([`session`]).

mod buyers;
mod decline;
mod events;
mod frame;
mod home;
mod offers;
mod parties;
mod session;
mod sign_in;
mod visit;

use crate::context::Context;
use crate::failure::Failure;
use crate::operations::operator::Operator;
use crate::operator_failure::OperatorFailure;
use crate::request_body::BODY;
use crate::shell;
use frame::{Frame, Page};
use lendpay_domain::Store;
use poem::endpoint::make_sync;
use poem::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Endpoint, Request, Response, get, post};
use session::{Sessions, Wallet};
use std::sync::Arc;
use visit::Visit;

/// The address of the first page; all others are below it.
const HOME: &str = "/operator/console";
const STYLE: &str = "/operator/console/style.css";
const SIGN_IN: &str = "/operator/console/sign-in";
const SIGN_OUT: &str = "/operator/console/sign-out";

/// Nothing but this service's own style sheet is loaded, no script runs, forms go to this service only, and no other
/// page may frame this one.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

static HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Home,
    SignIn,
    SignOut,
    Search,
    Partners,
    Partner,
    Application,
    Offer,
    Decline,
    Buyers,
    Buyer,
    Operation,
    Events,
}

impl Place {
    /// Every place, with its address and its methods.
    const ALL: [(Self, &str, &str); 13] = [
        (Self::Home, HOME, "GET, HEAD"),
        (Self::SignIn, SIGN_IN, "GET, POST, HEAD"),
        (Self::SignOut, SIGN_OUT, "POST"),
        (Self::Search, "/operator/console/search", "GET, HEAD"),
        (Self::Partners, "/operator/console/partners", "GET, HEAD"),
        (Self::Partner, "/operator/console/partners/{partnerId}", "GET, HEAD"),
        (Self::Application, "/operator/console/applications/{applicationId}", "GET, HEAD"),
        (Self::Offer, "/operator/console/applications/{applicationId}/offers/{offerId}", "GET, HEAD"),
        (Self::Decline, "/operator/console/applications/{applicationId}/offers/{offerId}/decline", "GET, POST, HEAD"),
        (Self::Buyers, "/operator/console/buyers", "GET, HEAD"),
        (Self::Buyer, "/operator/console/buyers/{buyerId}", "GET, POST, HEAD"),
        (Self::Operation, "/operator/console/operations/{operationId}", "GET, HEAD"),
        (Self::Events, "/operator/console/events", "GET, HEAD"),
    ];
}

/// Adds the pages.
pub(crate) fn add<S: Store>(
    mut router: poem::Route,
    routes: &mut Vec<shell::Route>,
    operator: &Arc<Operator<S>>,
) -> poem::Route {
    let mut note = |template: &str, allow: &str| {
        let (template, allow) = (template.to_owned(), allow.to_owned());
        routes.push(shell::Route { template, allow, preflight: false, body: BODY });
    };
    let sessions = Arc::new(Sessions::default());
    for (place, template, allow) in Place::ALL {
        let pages = || Pages { place, operator: Arc::clone(operator), sessions: Arc::clone(&sessions) };
        let methods = match allow {
            "POST" => post(pages()),
            allow if allow.contains("POST") => get(pages()).post(pages()),
            _ => get(pages()),
        };
        note(template, allow);
        router = router.at(template.replace('{', ":").replace('}', ""), methods);
    }
    note(STYLE, "GET, HEAD");
    let sheet = |_| Response::builder().content_type("text/css; charset=utf-8").body(include_str!("style.css"));
    router.at(STYLE, get(make_sync(sheet)))
}

/// What a place answers.
enum Answer {
    Page(Page),
    /// Look there; with what becomes of the cookie.
    See {
        to: String,
        cookie: Option<HeaderValue>,
    },
}

impl Answer {
    fn see(to: impl Into<String>) -> Self {
        Self::See { to: to.into(), cookie: None }
    }

    fn session(to: &str, cookie: HeaderValue) -> Self {
        Self::See { to: to.to_owned(), cookie: Some(cookie) }
    }
}

impl From<Page> for Answer {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

/// The endpoint of a place.
struct Pages<S> {
    place: Place,
    operator: Arc<Operator<S>>,
    sessions: Arc<Sessions>,
}

impl<S: Store> Endpoint for Pages<S> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let context = Context::of(&request)?;
        let wallet = Wallet::of(&request);
        let visit = self.visit(&wallet, &context);
        let answer = match (self.place, &visit) {
            (Place::SignIn, Some(_)) => Ok(Answer::see(HOME)),
            (Place::SignIn, None) => sign_in::answer(&self.operator, &request, &wallet, &context).await,
            (_, None) => Ok(Answer::see(SIGN_IN)),
            (_, Some(visit)) => self.answer(visit, &request, &wallet).await,
        };
        let frame = visit.as_ref().map(Visit::frame);
        Ok(match answer {
            Ok(answer) => respond(answer, frame.as_ref()),
            Err(failure) => {
                let page = match self.place {
                    Place::SignIn => sign_in::page(&wallet, Some(&failure)),
                    _ => Page::of_failure(&failure, &context),
                };
                refuse(failure, page, frame.as_ref())
            }
        })
    }
}

impl<S: Store> Pages<S> {
    /// Who has signed in, as of now: a key that is no operator's any more opens nothing.
    fn visit<'a>(&'a self, wallet: &Wallet, context: &'a Context) -> Option<Visit<'a, S>> {
        let (key, cookie) = self.sessions.open(wallet, &self.operator.operators.hashes(), context.at)?;
        Visit::new(&self.operator, context, key, &cookie)
    }

    async fn answer(&self, visit: &Visit<'_, S>, request: &Request, wallet: &Wallet) -> Result<Answer, Failure> {
        let form = if request.method() == Method::POST { Some(visit.form().await?) } else { None };
        let query = Pairs(request.params().expect("any query is pairs of strings"));
        match (self.place, form) {
            (Place::SignOut, _) => {
                self.sessions.end(wallet, visit.now());
                Ok(Answer::session(SIGN_IN, wallet.removal()))
            }
            (Place::Search, _) => home::search(visit, query.get("q")).await,
            (Place::Partners, _) => parties::partners(visit, &query).await,
            (Place::Partner, _) => parties::partner(visit, request, &query).await,
            (Place::Application, _) => parties::application(visit, request, &query).await,
            (Place::Offer, _) => offers::offer(visit, request).await,
            (Place::Decline, form) => decline::answer(visit, request, form).await,
            (Place::Buyers, _) => buyers::buyers(visit, &query).await,
            (Place::Buyer, form) => buyers::buyer(visit, request, form.is_some()).await,
            (Place::Operation, _) => events::operation(visit, request).await,
            (Place::Events, _) => events::events(visit, &query).await,
            (Place::Home | Place::SignIn, _) => Ok(home::home(visit).into()),
        }
    }
}

/// The fields of a form, or the parameters of a query.
struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// A value; empty if it is not there.
    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// Those of the names that have a value, as an operation takes them.
    fn some<'a>(&'a self, names: &[&'a str]) -> Vec<(&'a str, &'a str)> {
        names.iter().map(|name| (*name, self.get(name))).filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// A form whose token is not that of the session: another page has made it, or it was opened before signing in.
fn stale_form() -> Failure {
    OperatorFailure::BadFields(vec!["token: is not that of this session; open the page again".to_owned()]).into()
}

fn respond(answer: Answer, frame: Option<&Frame>) -> Response {
    let (mut response, cookie) = match answer {
        Answer::Page(page) => {
            let (status, cookie) = (page.status, page.cookie.clone());
            (Response::builder().status(status).body(page.render(frame).into_string()), cookie)
        }
        Answer::See { to, cookie } => {
            let see = Response::builder().status(StatusCode::SEE_OTHER);
            (see.header(header::LOCATION, to).finish(), cookie)
        }
    };
    let headers = response.headers_mut();
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    headers.extend(HEADERS.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))));
    response
}

/// A failure as a page. The shell logs and keeps it as it does those of operations.
fn refuse(failure: Failure, page: Page, frame: Option<&Frame>) -> Response {
    let mut response = respond(Page { status: failure.status(), ..page }.into(), frame);
    if let Some((name, value)) = failure.header() {
        response.headers_mut().insert(name, value);
    }
    response.extensions_mut().insert(failure);
    response
}
