//! The operations of a side by their address, beside its pages.
//!
//! The shell has found the address already. poem-openapi's own endpoint would look for it again, behind eight more
//! layers: a tenth of all instructions of an accept.

use crate::context::Context;
use crate::shell::Routes;
use poem::endpoint::{BoxEndpoint, DynEndpoint};
use poem::error::MethodNotAllowedError;
use poem::http::Method;
use poem::{Endpoint, Request, Response};
use poem_openapi::OpenApi;
use std::collections::HashMap;

/// The endpoints of a side.
pub(crate) struct Table {
    /// By the number of their route, and by method. A page has none.
    operations: Vec<Vec<(Method, BoxEndpoint<'static>)>>,
    pages: BoxEndpoint<'static>,
}

impl Table {
    /// The operations of a document whose addresses are among the routes.
    pub fn new(apis: impl OpenApi, pages: BoxEndpoint<'static>, routes: &Routes) -> Self {
        let mut by_path = HashMap::new();
        apis.add_routes(&mut by_path);
        let mut operations: Vec<_> = (0..routes.len()).map(|_| Vec::new()).collect();
        for (path, methods) in by_path {
            // A path with names of parameters in place of ids is an instance of its template.
            let (found, _) = routes.find(&path).expect("the routes are those of the document");
            operations[found.number].extend(methods);
        }
        Self { operations, pages }
    }
}

impl Endpoint for Table {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let found = request.data::<Context>().and_then(|context| context.found());
        let methods = found.map_or(&[][..], |found| &self.operations[found.number]);
        // An id at the end is not empty: poem's router, which finds the pages, has nothing there.
        if methods.is_empty() || request.uri().path().ends_with('/') {
            return self.pages.call(request).await;
        }
        let is_head = request.method() == Method::HEAD;
        if is_head {
            request.set_method(Method::GET);
        }
        let operation = methods.iter().find(|(method, _)| method == request.method());
        let (_, operation) = operation.ok_or(MethodNotAllowedError)?;
        let mut response = DynEndpoint::call(operation.as_ref(), request).await?;
        if is_head {
            response.set_body(());
        }
        Ok(response)
    }
}
