//! OAuth for connectors. These endpoints are not part of the description of the API: their own metadata describes them.

mod authorize;
mod failure;
mod metadata;
mod parameters;
mod register;
mod revoke;
mod token;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use kalends_app::{App, operations};

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(operations::TOOLS_METADATA.path, get(metadata::of_tools))
        .route(operations::TOOLS_METADATA_OF_PATH.path, get(metadata::of_tools))
        .route(operations::OAUTH_METADATA.path, get(metadata::of_server))
        .route(operations::REGISTER_CONNECTOR.path, post(register::register))
        .route(operations::AUTHORIZE_CONNECTOR.path, get(authorize::authorize))
        .route(operations::CONNECTOR_TOKEN.path, post(token::token))
        .route(operations::REVOKE_CONNECTOR_TOKEN.path, post(revoke::revoke))
}
