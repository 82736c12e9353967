//! `/docs`: the page on which people read and try the description of the API.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    extract::Path,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use http::{HeaderMap, HeaderValue};
use kalends_web::headers::DOCUMENTATION;
use utoipa_swagger_ui::Config;

use crate::{error::ApiError, files::File};

/// The path of the page and of its files.
const PAGE: &str = "/docs/";
/// The file name of the page itself.
const INDEX: &str = "index.html";
/// The files of the page. The library contains more, for other ways to build a page.
const NAMES: [&str; 8] = [
    INDEX,
    "index.css",
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-initializer.js",
    "favicon-16x16.png",
    "favicon-32x32.png",
];

/// The files by name.
static FILES: LazyLock<Vec<(&str, Arc<File>)>> = LazyLock::new(|| {
    let config = Arc::new(Config::from("/openapi.json"));
    let file = |name: &'static str| {
        let read = utoipa_swagger_ui::serve(name, Arc::clone(&config)).ok().flatten()?;
        // The file names do not change between releases, so a cache must revalidate.
        let content_type = HeaderValue::try_from(read.content_type).ok()?;
        Some((name, Arc::new(File::new(content_type, read.bytes.into_owned(), &DOCUMENTATION))))
    };
    NAMES.into_iter().filter_map(file).collect()
});

/// The routes of the page. They are not operations, because they are the same for everyone, like the pages of the
/// console.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(|| async { Redirect::temporary(PAGE) }))
        .route(PAGE.trim_end_matches('/'), get(|| async { Redirect::to(PAGE) }))
        .route(PAGE, get(async |headers: HeaderMap| show(INDEX, &headers).await))
        .route("/docs/{file}", get(async |Path(name): Path<String>, headers: HeaderMap| show(&name, &headers).await))
}

async fn show(name: &str, request: &HeaderMap) -> Response {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, file)) => file.answer(request).await,
        None => ApiError::NoRoute.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::base64;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_page_refers_only_to_served_files() {
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), NAMES);
        let text = |name: &str| {
            let (_, file) = FILES.iter().find(|(known, _)| *known == name).unwrap();
            String::from_utf8(file.plain().to_vec()).unwrap()
        };
        let page = text(INDEX);
        let referred = page
            .split(['"'])
            .filter(|value| value.ends_with(".css") || value.ends_with(".js") || value.ends_with(".png"));
        for file in referred {
            assert!(NAMES.contains(&file.trim_start_matches("./")), "{file}");
        }
        // The page's policy allows no inline scripts or styles.
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("onload="), "{page}");
        assert!(page.split("<script").skip(1).all(|script| script.starts_with(" src=")), "{page}");
        assert!(text("swagger-initializer.js").contains("/openapi.json"));
        // The one exception is a style sheet that the script writes into the page. The policy allows it by its hash.
        let (policy, script) = (DOCUMENTATION[0].1, text("swagger-ui-standalone-preset.js"));
        let styles = script.split(r#"createElement("style",null,""#).skip(1);
        let styles = styles.map(|rest| rest.split('"').next().unwrap()).collect::<Vec<_>>();
        assert_eq!(styles.len(), 1);
        let hash = base64(&Sha256::digest(styles[0]));
        assert!(policy.contains(&format!("style-src 'self' 'sha256-{hash}';")), "{hash}: {policy}");
    }
}
