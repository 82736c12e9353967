//! Static files. Each is compressed once per coding, and the result is kept for later requests.

use std::sync::Arc;

use async_compression::{
    Level,
    tokio::bufread::{GzipEncoder, ZstdEncoder},
};
use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use kalends_kernel::base64url;
use sha2::{Digest as _, Sha256};
use tokio::{io::AsyncReadExt as _, runtime::Handle, sync::OnceCell, task::spawn_blocking};

use crate::{extract::has, limits::COMPRESS_ABOVE};

/// The compression of a file. If a caller accepts several equally, the first one here is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Zstd,
    Gzip,
}

/// A file with a strong entity tag for each form in which it is sent.
#[derive(Debug)]
pub(crate) struct File {
    headers: Vec<(HeaderName, HeaderValue)>,
    hash: String,
    plain: Bytes,
    /// Whether the file is worth compressing, by its type and its size.
    packs: bool,
    packed: [OnceCell<Bytes>; Coding::ALL.len()],
}

/// Marks an answer that is sent as it is stored, so that the compression layer leaves it alone.
#[derive(Debug, Clone, Copy)]
struct Stored;

/// Whether an answer may be compressed for its request. This is the predicate of the compression layer.
pub(crate) fn is_made_for_its_request(_: StatusCode, _: Version, _: &HeaderMap, extensions: &Extensions) -> bool {
    extensions.get::<Stored>().is_none()
}

impl File {
    /// Creates a file of that type. Every answer has these headers.
    pub(crate) fn new(
        content_type: HeaderValue,
        content: impl Into<Bytes>,
        headers: &[(&'static str, &'static str)],
    ) -> Self {
        let plain = content.into();
        let written = |value: &HeaderValue, kind: &[u8]| value.as_bytes().starts_with(kind);
        let packs = [&b"text/"[..], b"application/json", b"image/svg"].iter().any(|kind| written(&content_type, kind));
        let packs = packs && u64::try_from(plain.len()).is_ok_and(|length| length > COMPRESS_ABOVE);
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        Self {
            headers: headers.chain([(header::CONTENT_TYPE, content_type)]).collect(),
            hash: base64url(&Sha256::digest(&plain)[..12]),
            plain,
            packs,
            packed: Default::default(),
        }
    }

    /// The uncompressed content.
    pub(crate) fn plain(&self) -> Bytes {
        self.plain.clone()
    }

    /// Answers a request with these headers: the file in a form that the caller accepts, or 304 if the caller has it
    /// already.
    pub(crate) async fn answer(self: &Arc<Self>, request: &HeaderMap) -> Response {
        let coding = if self.packs { Coding::accepted(request) } else { None };
        let packed = match coding {
            Some(coding) => self.packed(coding).await.map(|packed| (coding, packed)),
            None => None,
        };
        // Each form has its own tag (RFC 9110 section 8.8.3.3).
        let tag = match &packed {
            Some((coding, _)) => format!("\"{}-{}\"", self.hash, coding.name()),
            None => format!("\"{}\"", self.hash),
        };
        let mut response = if has(request, &tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            match packed {
                Some((coding, packed)) => {
                    let mut response = Response::new(Body::from(packed));
                    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
                    response
                }
                None => Response::new(Body::from(self.plain())),
            }
        };
        let headers = response.headers_mut();
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
        if self.packs {
            headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        if let Ok(tag) = HeaderValue::try_from(tag) {
            headers.insert(header::ETAG, tag);
        }
        if response.status() == StatusCode::NOT_MODIFIED {
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
        response.extensions_mut().insert(Stored);
        response
    }

    /// Returns the compressed form. The first request for it compresses the file, and concurrent requests wait. If
    /// that fails, returns `None`, and the next request tries again.
    async fn packed(self: &Arc<Self>, coding: Coding) -> Option<Bytes> {
        let pack = || async {
            let plain = self.plain();
            spawn_blocking(move || Handle::current().block_on(coding.pack(&plain))).await?
        };
        match self.packed[coding as usize].get_or_try_init(pack).await {
            Ok(packed) => Some(packed.clone()),
            Err(error) => {
                tracing::error!(%error, coding = coding.name(), "a file could not be compressed");
                None
            }
        }
    }
}

impl Coding {
    /// Every coding, in the order of the values.
    const ALL: [Self; 2] = [Self::Zstd, Self::Gzip];

    const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// The coding that the caller prefers, or `None` if the caller accepts none.
    fn accepted(request: &HeaderMap) -> Option<Self> {
        let weighed = Self::ALL.into_iter().map(|coding| (weight(request, coding.name()), coding));
        // `max_by_key` returns the last of equal elements.
        weighed.rev().max_by_key(|(weight, _)| *weight).filter(|(weight, _)| *weight > 0).map(|(_, coding)| coding)
    }

    async fn pack(self, plain: &[u8]) -> std::io::Result<Bytes> {
        let mut packed = Vec::new();
        match self {
            Self::Zstd => {
                ZstdEncoder::with_quality(plain, Level::Precise(12)).read_to_end(&mut packed).await?;
            }
            Self::Gzip => {
                GzipEncoder::with_quality(plain, Level::Best).read_to_end(&mut packed).await?;
            }
        }
        Ok(packed.into())
    }
}

/// The caller's preference for a coding, in thousandths (RFC 9110 section 12.5.3). 0 means not accepted.
fn weight(request: &HeaderMap, coding: &str) -> u16 {
    let fields = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = 0;
    for part in fields.flat_map(|value| value.split(',')) {
        let (name, parameters) = part.split_once(';').unwrap_or((part, ""));
        let quality = parameters.trim().strip_prefix("q=").map_or(Some(1.0), |text| text.trim().parse::<f32>().ok());
        let quality = quality.filter(|quality| (0.0..=1.0).contains(quality)).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
        let weight = (quality * 1_000.0) as u16;
        match name.trim() {
            name if name.eq_ignore_ascii_case(coding) => return weight,
            "*" => any = weight,
            _ => {}
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
    use http_body_util::BodyExt as _;
    use rstest::rstest;
    use tower::{ServiceExt as _, service_fn};
    use tower_http::compression::{CompressionLayer, Predicate as _, predicate::SizeAbove};

    use super::*;

    const TEXT: &str = "A day has twenty-four hours. ";

    fn file() -> Arc<File> {
        let headers = [("cache-control", "no-cache")];
        Arc::new(File::new(HeaderValue::from_static("text/plain"), TEXT.repeat(200), &headers))
    }

    fn headers_with(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    async fn body(response: Response) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[rstest]
    #[case::browser("gzip, deflate, br, zstd", Some(Coding::Zstd))]
    #[case::one("gzip", Some(Coding::Gzip))]
    #[case::in_capitals("GZIP", Some(Coding::Gzip))]
    #[case::preferred("zstd;q=0.1, gzip;q=0.9", Some(Coding::Gzip))]
    #[case::anything("*", Some(Coding::Zstd))]
    #[case::anything_but("*, zstd;q=0", Some(Coding::Gzip))]
    #[case::refused("zstd;q=0, gzip;q=0.000", None)]
    #[case::identity("identity", None)]
    #[case::unknown("deflate, br, middle-out", None)]
    #[case::malformed("zstd;q=lots", None)]
    #[case::empty("", None)]
    fn the_callers_preferred_coding_is_chosen(#[case] accepts: &str, #[case] coding: Option<Coding>) {
        assert_eq!(Coding::accepted(&headers_with(header::ACCEPT_ENCODING, accepts)), coding);
    }

    #[rstest]
    #[tokio::test]
    async fn a_file_is_compressed_once_and_sent_as_stored(#[values("zstd", "gzip")] coding: &str) {
        let file = file();
        let layers = tower::ServiceBuilder::new()
            .layer(CompressionLayer::new().compress_when(SizeAbove::new(0).and(is_made_for_its_request)));
        let served = Arc::clone(&file);
        let service = layers.service(service_fn(move |request: http::Request<Body>| {
            let file = Arc::clone(&served);
            async move { Ok::<_, std::convert::Infallible>(file.answer(request.headers()).await) }
        }));
        let ask = async |accepts: &str| {
            let request = http::Request::get("/").header("accept-encoding", accepts).body(Body::empty()).unwrap();
            service.clone().oneshot(request).await.unwrap().map(Body::new)
        };
        let (first, second) = tokio::join!(ask(coding), ask(coding));
        assert_eq!(first.headers()["content-encoding"], coding);
        let (first, second) = (body(first).await, body(second).await);
        assert!(first.len() * 4 < TEXT.len() * 200);
        // The same bytes that are stored, not a copy.
        let stored = file.packed.iter().filter_map(|cell| cell.get()).collect::<Vec<_>>();
        assert_eq!(stored.iter().map(|bytes| bytes.as_ptr()).collect::<Vec<_>>(), [first.as_ptr()]);
        assert_eq!(second.as_ptr(), first.as_ptr());
        // The layer does not compress the plain form either.
        let plain = body(ask("identity").await).await;
        assert_eq!(plain.as_ptr(), file.plain.as_ptr());
        let (mut packed, mut unpacked) = (first.as_ref(), Vec::new());
        match coding {
            "zstd" => ZstdDecoder::new(&mut packed).read_to_end(&mut unpacked).await.unwrap(),
            _ => GzipDecoder::new(&mut packed).read_to_end(&mut unpacked).await.unwrap(),
        };
        assert_eq!(unpacked, plain);
    }

    #[tokio::test]
    async fn each_form_has_its_own_strong_tag() {
        let file = file();
        let mut tags = Vec::new();
        for accepts in ["identity", "zstd", "gzip"] {
            let mut request = headers_with(header::ACCEPT_ENCODING, accepts);
            let sent = file.answer(&request).await;
            let tag = sent.headers()["etag"].to_str().unwrap().to_owned();
            assert!(tag.starts_with('"') && !tags.contains(&tag), "{tag}");
            request.insert(header::IF_NONE_MATCH, tag.parse().unwrap());
            let known = file.answer(&request).await;
            assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
            for name in ["etag", "cache-control", "vary"] {
                assert_eq!(known.headers()[name], sent.headers()[name], "{name}");
            }
            assert!(body(known).await.is_empty());
            tags.push(tag);
        }
        let other = File::new(HeaderValue::from_static("text/plain"), "other", &[]);
        assert!(tags.iter().all(|tag| !tag.contains(&other.hash)));
    }

    #[tokio::test]
    async fn small_and_compressed_files_are_sent_unchanged() {
        let short = File::new(HeaderValue::from_static("text/plain"), "short", &[]);
        let picture = File::new(HeaderValue::from_static("image/png"), vec![0; 4096], &[]);
        for file in [Arc::new(short), Arc::new(picture)] {
            let sent = file.answer(&headers_with(header::ACCEPT_ENCODING, "zstd, gzip")).await;
            assert!(!sent.headers().contains_key("content-encoding") && !sent.headers().contains_key("vary"));
            assert_eq!(body(sent).await, file.plain);
        }
    }
}
