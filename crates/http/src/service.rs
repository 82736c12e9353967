//! The types of handlers and routes.

use std::sync::Arc;

use axum::{
    Router,
    handler::Handler,
    routing::{MethodFilter, MethodRouter},
};
use kalends_app::App;
use utoipa::openapi::{
    OpenApi, RefOr,
    path::{HttpMethod, Operation, ParameterIn},
};
use utoipa_axum::{
    PathItemExt,
    router::{OpenApiRouter, UtoipaMethodRouter},
};

/// The state of every handler.
pub(crate) type Service = axum::extract::State<Arc<App>>;

/// Describes the operations of one path.
type Describe = fn() -> UtoipaMethodRouter<Arc<App>>;

/// The routes of a resource. They are described only if someone asks for it: each operation writes the schemas of all
/// that it refers to, and most processes never show them.
pub(crate) struct Routes {
    router: Router<Arc<App>>,
    operations: Vec<Described>,
    /// An entry for each resource.
    describe: Vec<Vec<Describe>>,
}

/// A path with its handlers. The macro `routes` makes it.
pub(crate) struct Route {
    path: String,
    handlers: MethodRouter<Arc<App>>,
    operations: Vec<Described>,
    describe: Describe,
}

/// An operation that can describe itself.
pub(crate) struct Described {
    path: String,
    methods: Vec<HttpMethod>,
    operation: fn() -> Operation,
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self { router: Router::new(), operations: Vec::new(), describe: Vec::new() }
    }

    /// Adds a path to the resource.
    pub(crate) fn routes(mut self, route: Route) -> Self {
        let Route { path, handlers, operations, describe } = route;
        self.router = self.router.route(&path, handlers);
        self.operations.extend(operations);
        match self.describe.last_mut() {
            Some(resource) => resource.push(describe),
            None => self.describe.push(vec![describe]),
        }
        self
    }

    /// Adds the resources of `other`.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self.describe.extend(other.describe);
        self
    }

    /// The router, and the operations that it serves.
    pub(crate) fn into_parts(self) -> (Router<Arc<App>>, Vec<Described>) {
        (self.router, self.operations)
    }

    /// The description of all resources, which follow `head`.
    pub(crate) fn describe(self, head: OpenApi) -> OpenApi {
        let described = |resource: Vec<Describe>| {
            resource.into_iter().fold(OpenApiRouter::new(), |router, describe| router.routes(describe()))
        };
        let resources = self.describe.into_iter().map(described);
        resources.fold(OpenApiRouter::with_openapi(head), OpenApiRouter::merge).into_openapi()
    }
}

impl Route {
    pub(crate) fn at(path: String, describe: Describe) -> Self {
        Self { path, handlers: MethodRouter::new(), operations: Vec::new(), describe }
    }

    /// Adds the handler of an operation, which has these methods.
    pub(crate) fn on<H, T>(mut self, methods: Vec<HttpMethod>, operation: fn() -> Operation, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        if let Some(filter) = methods.iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or) {
            self.handlers = self.handlers.on(filter, handler);
        }
        self.operations.push(Described { path: self.path.clone(), methods, operation });
        self
    }
}

impl Described {
    /// Whether this is the operation with that method, in capitals, and that path.
    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.path == path && self.methods.iter().any(|own| name(own) == method)
    }

    /// Whether it has a parameter in the query.
    pub(crate) fn takes_query(&self) -> bool {
        let parameters = (self.operation)().parameters.unwrap_or_default();
        parameters
            .iter()
            .any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query))
    }
}

const fn name(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Delete => "DELETE",
        HttpMethod::Options => "OPTIONS",
        HttpMethod::Head => "HEAD",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Trace => "TRACE",
    }
}

/// The [`Route`] of one path: its handlers, each as `module::function`.
macro_rules! routes {
    ($first:ident :: $begin:ident $(, $module:ident :: $handler:ident)* $(,)?) => {
        $crate::service::Route::at(
            utoipa_axum::paste! { <$first::[<__path_ $begin>] as utoipa::Path>::path() },
            || utoipa_axum::routes!($first::$begin $(, $module::$handler)*),
        )
        .on(
            utoipa_axum::paste! { <$first::[<__path_ $begin>] as utoipa::Path>::methods() },
            utoipa_axum::paste! { <$first::[<__path_ $begin>] as utoipa::Path>::operation },
            $first::$begin,
        )
        $(.on(
            utoipa_axum::paste! { <$module::[<__path_ $handler>] as utoipa::Path>::methods() },
            utoipa_axum::paste! { <$module::[<__path_ $handler>] as utoipa::Path>::operation },
            $module::$handler,
        ))*
    };
}
pub(crate) use routes;
