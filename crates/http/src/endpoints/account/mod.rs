//! The account as a whole: its export and its deletion.

mod delete;
pub(super) mod export;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(export::export)).routes(routes!(delete::delete))
}
