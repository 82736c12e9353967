//! `/docs`: the documentation, with a reference made from the description of the API.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    extract::Path,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use http::{HeaderMap, HeaderValue};
use kalends_docs::ROOT;
use kalends_web::headers::{ASSET, DOCUMENTATION};
use tokio::{sync::OnceCell, task::spawn_blocking};

use crate::{endpoints::Description, error::ApiError, files::File};

/// The site. It is rendered for the first request, because most tests and commands never show it.
pub(crate) struct Site {
    description: Description,
    /// The files by their path below [`ROOT`].
    files: OnceCell<HashMap<String, Arc<File>>>,
}

impl Site {
    pub(crate) fn new(description: Description) -> Arc<Self> {
        Arc::new(Self { description, files: OnceCell::new() })
    }

    async fn show(&self, path: &str, request: &HeaderMap) -> Response {
        let description = self.description.file().plain();
        let rendered = self.files.get_or_try_init(|| spawn_blocking(move || render(&description))).await;
        let files = match rendered {
            Ok(files) => files,
            Err(error) => {
                tracing::error!(%error, "the documentation could not be rendered");
                return ApiError::Internal.into_response();
            }
        };
        match files.get(path) {
            Some(file) => file.answer(request).await,
            None => ApiError::NoRoute.into_response(),
        }
    }
}

/// The routes of the site. They are not operations, because they are the same for everyone, like the pages of the
/// console.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(site: Arc<Site>) -> Router<S> {
    let first = Arc::clone(&site);
    let show = async move |Path(path): Path<String>, headers: HeaderMap| site.show(&path, &headers).await;
    Router::new()
        .route(ROOT.trim_end_matches('/'), get(|| async { Redirect::to(ROOT) }))
        .route(ROOT, get(async move |headers: HeaderMap| first.show("", &headers).await))
        .route(&format!("{ROOT}{{*path}}"), get(show))
}

fn render(description: &[u8]) -> HashMap<String, Arc<File>> {
    let description = serde_json::from_slice(description).unwrap_or_default();
    let files = kalends_docs::files(&description).into_iter();
    let file = |file: kalends_docs::File| {
        let headers: &[_] = if file.is_lasting { &ASSET } else { &DOCUMENTATION };
        let content_type = HeaderValue::from_static(file.content_type);
        (file.path, Arc::new(File::new(content_type, file.content.into_owned(), headers)))
    };
    files.map(file).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The maximum size of a page, in bytes.
    const PAGE_MAX: usize = 60_000;

    fn site() -> HashMap<String, Arc<File>> {
        render(crate::openapi_json("https://calendar.example.com").as_bytes())
    }

    /// The pages of the site by their path.
    fn pages() -> HashMap<String, String> {
        let is_page = |path: &str| !path.starts_with("assets/");
        let text = |file: &Arc<File>| String::from_utf8(file.plain().to_vec()).unwrap();
        site().iter().filter(|(path, _)| is_page(path)).map(|(path, file)| (path.clone(), text(file))).collect()
    }

    /// The values of an attribute.
    fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
        let begin = format!(" {attribute}=\"");
        page.match_indices(&begin).map(|(at, _)| page[at + begin.len()..].split('"').next().unwrap()).collect()
    }

    #[test]
    fn every_operation_has_a_place_in_the_reference() {
        let pages = pages();
        for operation in kalends_app::operations::ALL {
            let section = format!("<section class=\"operation\" id=\"{}\">", operation.id);
            assert_eq!(pages.values().filter(|page| page.contains(&section)).count(), 1, "{}", operation.id);
        }
    }

    /// The Rust examples, which a test of the client compiles.
    const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../client/tests/reference/samples.in");
    const RENEW: &str = "KALENDS_RENEW_EXAMPLES=1 cargo test -p kalends-http --lib the_rust_examples";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may read a variable that controls it")]
    fn the_rust_examples_are_those_that_are_compiled() {
        let description = serde_json::from_str(&crate::openapi_json("https://calendar.example.com")).unwrap();
        let samples = kalends_docs::rust_samples(&description);
        assert!(samples.matches("async fn").count() > 50);
        if std::env::var("KALENDS_RENEW_EXAMPLES").is_ok_and(|value| value == "1") {
            return std::fs::write(SAMPLES, samples).unwrap();
        }
        let stored = std::fs::read_to_string(SAMPLES).unwrap();
        assert!(stored == samples, "the examples have changed; write them again with\n    {RENEW}");
    }

    #[test]
    fn pages_are_small_and_contain_nothing_inline() {
        for (path, page) in pages() {
            assert!(page.len() < PAGE_MAX, "{path}: {} bytes", page.len());
            for inline in ["<style", " style=", " onclick=", " onload=", "=\"javascript:", "=\"data:"] {
                assert!(!page.contains(inline), "{path}: {inline}");
            }
            assert!(page.split("<script").skip(1).all(|script| script.starts_with(" src=\"/docs/")), "{path}");
            assert_eq!(page.matches("<h1").count(), 1, "{path}");
            let ids = values(&page, "id");
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{path}: {ids:?}");
        }
    }

    #[test]
    fn links_lead_to_files_and_places_of_the_site() {
        let (site, pages) = (site(), pages());
        let mut wrong = Vec::new();
        for (path, page) in &pages {
            let links = [values(page, "href"), values(page, "src"), values(page, "data-index"), values(page, "action")];
            for link in links.concat() {
                if link == "/openapi.json" || link.starts_with("https://") || link.starts_with("http://") {
                    continue;
                }
                let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if target.is_empty() { Some(path.as_str()) } else { target.strip_prefix(ROOT) };
                let is_there = target.is_some_and(|target| site.contains_key(target));
                let has_anchor = || {
                    let page = target.and_then(|target| pages.get(target));
                    page.is_some_and(|page| values(page, "id").contains(&anchor))
                };
                if !is_there || !anchor.is_empty() && !has_anchor() {
                    wrong.push(format!("{path}: {link}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_page_can_be_reached_from_the_first() {
        let pages = pages();
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![String::new()]);
        while let Some(path) = waiting.pop() {
            let Some(page) = pages.get(&path) else { continue };
            if reached.insert(path) {
                let links = values(page, "href").into_iter().filter_map(|link| link.strip_prefix(ROOT));
                waiting.extend(links.map(|link| link.split('#').next().unwrap().to_owned()));
                waiting.extend(
                    values(page, "action").iter().filter_map(|link| link.strip_prefix(ROOT)).map(str::to_owned),
                );
            }
        }
        let all: BTreeSet<String> = pages.into_keys().collect();
        assert_eq!(reached, all);
    }

    #[test]
    fn the_index_leads_to_pages() {
        let site = site();
        let index = site.iter().find(|(path, _)| path.starts_with("assets/search-")).unwrap().1.plain();
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&index).unwrap();
        assert!(entries.len() > kalends_app::operations::ALL.len());
        let pages = pages();
        for entry in entries {
            let address = entry["a"].as_str().unwrap().strip_prefix(ROOT).unwrap();
            let (path, anchor) = address.split_once('#').unwrap_or((address, ""));
            assert!(anchor.is_empty() || values(&pages[path], "id").contains(&anchor), "{address}");
        }
    }
}
