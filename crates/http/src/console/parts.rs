//! What a form of the console carries: its fields, and the files that were chosen. A form with a field for a file sends
//! its body in parts (RFC 7578).

use std::convert::Infallible;

use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, header};
use kalends_kernel::FieldError;
use multer::{Multipart, parse_boundary};
use sha2::{Digest as _, Sha256};

use crate::{
    error::ApiError,
    pages::{Fields, is_form, is_form_with_file},
};

/// The maximum number of parts. The forms with a field for a file have far fewer.
const PARTS_MAX: usize = 50;
/// The maximum length of the names of a part, in bytes: those of its field and of its file, with what is around them.
const NAMES_MAX: usize = 2_000;

/// Whether the body is sent by a form, with a field for a file or without one.
pub(super) fn comes_from_form(headers: &HeaderMap) -> bool {
    is_form(headers) || is_form_with_file(headers)
}

/// What a form carries.
#[derive(Debug)]
pub(super) struct Content {
    pub fields: Fields,
    /// The files that were chosen, each with the name of its field.
    pub files: Vec<(String, Bytes)>,
    /// Whether the body has parts.
    pub in_parts: bool,
}

impl Content {
    /// Reads the body of a form with these headers. A body of any other type is read as one without files.
    ///
    /// # Errors
    /// [`kalends_app::Refusal::Invalid`] if it has too many fields or parts, or its parts cannot be separated.
    pub(super) async fn of_form(headers: &HeaderMap, body: Bytes) -> Result<Self, ApiError> {
        if is_form_with_file(headers) {
            let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            return Ok(Self::of_parts(media_type.unwrap_or_default(), body).await?);
        }
        Ok(Self { fields: Fields::of_form(&body)?, files: Vec::new(), in_parts: false })
    }

    /// What two forms with the same fields and files have in common. A browser separates the parts of each body in another
    /// way, and a form that was kept sends its fields without parts.
    pub(super) fn identity(&self) -> [u8; 32] {
        let fields = self.fields.pairs().map(|(name, value)| (name, "text", value.as_bytes()));
        let files = self.files.iter().map(|(name, file)| (name.as_str(), "file", &file[..]));
        let mut sha = Sha256::new();
        for (name, kind, content) in fields.chain(files) {
            // Each text is prefixed with its length, so that different forms cannot produce the same bytes.
            for text in [name.as_bytes(), kind.as_bytes(), content] {
                sha.update((text.len() as u64).to_le_bytes());
                sha.update(text);
            }
        }
        sha.finalize().into()
    }

    /// Reads a body of that media type, which names what separates the parts.
    async fn of_parts(media_type: &str, body: Bytes) -> Result<Self, FieldError> {
        let boundary = parse_boundary(media_type).map_err(|why| malformed(&why))?;
        let mut parts = Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
        let (mut fields, mut files) = (Vec::new(), Vec::new());
        for count in 0.. {
            let Some(part) = parts.next_field().await.map_err(|why| malformed(&why))? else { break };
            if count == PARTS_MAX {
                return Err(FieldError::new("body", format!("must have at most {PARTS_MAX} parts")));
            }
            let names = part.headers().get(header::CONTENT_DISPOSITION).map_or(&b""[..], |value| value.as_bytes());
            if names.len() > NAMES_MAX {
                return Err(FieldError::new("body", format!("must have names of at most {NAMES_MAX} bytes")));
            }
            let is_file = has_file_name(names);
            let is_named = part.file_name().is_none_or(|name| !name.is_empty());
            let name = part.name().unwrap_or_default().to_owned();
            let value = part.bytes().await.map_err(|why| malformed(&why))?;
            // A browser sends a field in which no file was chosen as an empty file without a name.
            if is_file && !is_named && value.is_empty() {
                continue;
            }
            if is_file {
                files.push((name, value));
            } else {
                fields.push((name, String::from_utf8_lossy(&value).into_owned()));
            }
        }
        Ok(Self { fields: fields.into_iter().collect(), files, in_parts: true })
    }
}

/// Whether the part with these names is a file. The name of the file itself may be unreadable.
fn has_file_name(names: &[u8]) -> bool {
    const FILE_NAME: &[u8] = b"filename=";
    names.windows(FILE_NAME.len()).any(|part| part.eq_ignore_ascii_case(FILE_NAME))
}

/// The reason without what was sent, which may be long.
fn malformed(why: &multer::Error) -> FieldError {
    let message = match why {
        multer::Error::NoMultipart | multer::Error::NoBoundary | multer::Error::DecodeContentType(_) => {
            "must have a Content-Type with the boundary of its parts"
        }
        _ => "must consist of complete parts, each with its names (RFC 7578)",
    };
    FieldError::new("body", message)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use http::HeaderValue;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=x";

    /// A body of these parts, each with its names and its content.
    fn body(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (names, content) in parts {
            body.extend(format!("--x\r\nContent-Disposition: form-data; {names}\r\n\r\n").bytes());
            body.extend_from_slice(content);
            body.extend(b"\r\n");
        }
        body.extend(b"--x--\r\n");
        body
    }

    async fn read(media_type: &str, body: impl Into<Vec<u8>>) -> Result<Content, String> {
        Content::of_parts(media_type, body.into().into()).await.map_err(|error| error.message)
    }

    type Part = (&'static str, &'static [u8]);

    #[rstest]
    #[case::nothing(&[], &[], &[])]
    #[case::text(&[(r#"name="body""#, &b"a\r\nb\nc"[..])], &[("body", "a\nb\nc")], &[])]
    #[case::file(&[(r#"name="file"; filename="a.ics""#, &b"a\r\nb"[..])], &[], &[("file", &b"a\r\nb"[..])])]
    #[case::empty_file(&[(r#"name="file"; filename="a.ics""#, &b""[..])], &[], &[("file", &b""[..])])]
    #[case::no_file_chosen(&[(r#"name="file"; filename="""#, &b""[..])], &[], &[])]
    #[case::file_without_a_name(&[(r#"name="file"; filename="""#, &b"a"[..])], &[], &[("file", &b"a"[..])])]
    #[case::file_name_with_a_backslash(&[(r#"name="file"; filename="a\""#, &b"a"[..])], &[], &[("file", &b"a"[..])])]
    #[case::text_in_the_field_of_the_file(&[(r#"name="file""#, &b"a"[..])], &[("file", "a")], &[])]
    #[case::file_in_utf_16(&[(r#"name="file"; filename="a""#, &b"\xff\xfeA\0"[..])], &[], &[("file", &b"\xff\xfeA\0"[..])])]
    #[case::text_in_latin_1(&[(r#"name="body""#, &b"\xe4"[..])], &[("body", "\u{fffd}")], &[])]
    #[case::no_name(&[("", &b"a"[..])], &[("", "a")], &[])]
    #[case::both(
        &[(r#"name="org""#, &b"o"[..]), (r#"name="file"; filename="a""#, &b"f"[..]), (r#"name="body""#, &b"b"[..])],
        &[("org", "o"), ("body", "b")],
        &[("file", &b"f"[..])]
    )]
    #[tokio::test]
    async fn parts_are_fields_and_files(
        #[case] parts: &[Part],
        #[case] fields: &[(&str, &str)],
        #[case] files: &[Part],
    ) {
        let content = read(TYPE, body(parts)).await.unwrap();
        assert_eq!(content.fields.pairs().collect::<Vec<_>>(), fields);
        let read: Vec<_> = content.files.iter().map(|(name, file)| (name.as_str(), &**file)).collect();
        assert_eq!(read, files);
    }

    fn part() -> Vec<u8> {
        body(&[(r#"name="body""#, b"a")])
    }

    #[rstest]
    #[case::no_boundary("multipart/form-data", part(), "the boundary")]
    #[case::empty_boundary("multipart/form-data; boundary=", part(), "")]
    #[case::other_boundary("multipart/form-data; boundary=y", part(), "complete parts")]
    #[case::nothing(TYPE, vec![], "complete parts")]
    #[case::only_the_boundary(TYPE, b"--x".to_vec(), "complete parts")]
    #[case::truncated_head(TYPE, part()[..20].to_vec(), "complete parts")]
    #[case::truncated_content(TYPE, part()[..part().len() - 8].to_vec(), "complete parts")]
    #[case::no_end(TYPE, part()[..part().len() - 4].to_vec(), "complete parts")]
    #[case::long_name(TYPE, body(&[(&format!("name=\"{}\"", "n".repeat(10_240)), b"a")]), "at most 2000 bytes")]
    #[case::long_file_name(
        TYPE,
        body(&[(&format!("name=\"file\"; filename=\"{}\"", "n".repeat(10_240)), b"a")]),
        "at most 2000 bytes"
    )]
    #[case::many_parts(TYPE, body(&[(r#"name="a""#, &b"a"[..]); 1_000]), "at most 50 parts")]
    #[tokio::test]
    async fn a_body_that_no_browser_sends_is_refused(
        #[case] media_type: &str,
        #[case] body: Vec<u8>,
        #[case] said: &str,
    ) {
        let refused = read(media_type, body).await.map(|content| content.fields).unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }

    #[tokio::test]
    async fn as_many_parts_as_allowed_are_read() {
        let content = read(TYPE, body(&[(r#"name="a""#, &b"a"[..]); PARTS_MAX])).await.unwrap();
        assert_eq!(content.fields.all("a").count(), PARTS_MAX);
    }

    #[tokio::test]
    async fn the_same_form_is_recognized() {
        let of = async |media_type: &'static str, body: Vec<u8>| read(media_type, body).await.unwrap().identity();
        let file = |content: &'static [u8]| body(&[(r#"name="file"; filename="a.ics""#, content)]);
        let again = String::from_utf8(file(b"abc")).unwrap().replace("--x", "--another");
        let first = of(TYPE, file(b"abc")).await;
        assert_eq!(first, of("multipart/form-data; boundary=another", again.into()).await);
        for other in [file(b"abd"), body(&[(r#"name="file""#, b"abc")]), body(&[(r#"name="a"; filename="a""#, b"abc")])]
        {
            assert_ne!(first, of(TYPE, other).await);
        }
    }

    #[tokio::test]
    async fn a_form_is_recognized_without_its_parts() {
        let no_file = r#"name="file"; filename="""#;
        let parts = [(r#"name="org""#, &b"o"[..]), (no_file, b""), (r#"name="body""#, b"a\r\nb")];
        let in_parts = read(TYPE, body(&parts)).await.unwrap().identity();
        let of = async |sent: &'static [u8]| {
            let content = Content::of_form(&HeaderMap::new(), Bytes::from_static(sent)).await;
            content.map_err(|error| format!("{error:?}")).unwrap().identity()
        };
        assert_eq!(of(b"org=o&body=a%0D%0Ab").await, in_parts);
        for other in [&b"org=o&body=a"[..], b"org=ob&ody=a%0Ab", b"org=o&body=a%0Ab&body="] {
            assert_ne!(of(other).await, in_parts);
        }
    }

    #[tokio::test]
    async fn the_extractor_reads_either_kind() {
        let mut headers = HeaderMap::new();
        for (media_type, body) in
            [("application/x-www-form-urlencoded", b"body=a".to_vec()), ("Multipart/Form-Data; boundary=\"x\"", part())]
        {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
            assert!(comes_from_form(&headers), "{media_type}");
            let content = Content::of_form(&headers, body.into()).await.map_err(|error| format!("{error:?}")).unwrap();
            assert_eq!(content.fields.pairs().collect::<Vec<_>>(), [("body", "a")], "{media_type}");
        }
    }

    /// A complete body with bytes replaced, inserted and cut off.
    fn damaged() -> impl Strategy<Value = Vec<u8>> {
        let whole =
            body(&[(r#"name="org""#, &b"o"[..]), (r#"name="file"; filename="a""#, b"f\r\n--"), (r#"name="b""#, b"")]);
        let edit = (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..4), 0usize..4);
        (prop::collection::vec(edit, 1..5), any::<prop::sample::Index>()).prop_map(move |(edits, end)| {
            let mut body = whole.clone();
            for (at, bytes, over) in edits {
                let at = at.index(body.len() + 1);
                let until = (at + over).min(body.len());
                drop(body.splice(at..until, bytes));
            }
            body.truncate(end.index(2 * body.len() + 1));
            body
        })
    }

    proptest! {
        /// A damaged form with a file is refused, or read as fields and files that are no longer than its body.
        #[test]
        fn a_damaged_form_is_read_or_refused(body in damaged()) {
            let length = body.len();
            let read = read(TYPE, body).now_or_never();
            prop_assert!(read.is_some(), "it waits for more than its body");
            if let Some(Ok(content)) = read {
                let files: usize = content.files.iter().map(|(name, file)| name.len() + file.len()).sum();
                prop_assert!(files <= length);
            }
        }
    }
}
