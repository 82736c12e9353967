//! A page of a list as JSON, limited in bytes.
//!
//! Entries are written one by one into separate chunks of memory, so a slow reader holds only what it has not read
//! yet. A page that would exceed [`PAGE_BYTES_MAX`] ends early: its `limit` is then the number of entries on it, and
//! `has_more` is true.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use kalends_kernel::PAGE_BYTES_MAX;
use kalends_wire as wire;
use serde::Serialize;

use crate::{error::ApiError, reply::json};

/// The approximate size of a chunk, in bytes.
const CHUNK: usize = 64 << 10;
/// The bytes reserved for the fields after `data`.
const END_MAX: usize = 1 << 10;

/// A page of a list.
pub(crate) struct ListPage<T>(pub wire::List<T>);

/// A page of a webhook endpoint's deliveries.
pub(crate) struct DeliveryPage(pub wire::DeliveryList);

/// The fields that follow the entries of a page.
#[derive(Serialize)]
struct End<Stats> {
    total: u64,
    limit: u32,
    offset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_more: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
}

impl<T: Serialize> IntoResponse for ListPage<T> {
    fn into_response(self) -> Response {
        let wire::List { data, total, limit, offset, has_more } = self.0;
        respond(&data, End { total, limit, offset, has_more, stats: None::<()> })
    }
}

impl IntoResponse for DeliveryPage {
    fn into_response(self) -> Response {
        let wire::DeliveryList { data, total, limit, offset, has_more, stats } = self.0;
        respond(&data, End { total, limit, offset, has_more, stats: Some(stats) })
    }
}

fn respond<T: Serialize, S: Serialize>(data: &[T], end: End<S>) -> Response {
    match write(data, end, PAGE_BYTES_MAX) {
        Ok(chunks) => json(Body::new(chunks)),
        Err(error) => {
            tracing::error!(%error, "a list cannot be written as JSON");
            ApiError::Internal.into_response()
        }
    }
}

/// Writes as many entries as fit into `max` bytes, but at least one if there are any, and then the end.
fn write<T: Serialize, S: Serialize>(data: &[T], mut end: End<S>, max: usize) -> serde_json::Result<Chunks> {
    let mut chunks = Chunks::default();
    let mut chunk = Vec::with_capacity(CHUNK.min(1024 * (data.len() + 1)));
    chunk.extend_from_slice(b"{\"data\":[");
    for (written, entry) in data.iter().enumerate() {
        let begins = chunk.len();
        if written > 0 {
            chunk.push(b',');
        }
        serde_json::to_writer(&mut chunk, entry)?;
        if written > 0 && chunks.bytes + chunk.len() + END_MAX > max {
            chunk.truncate(begins);
            end.limit = u32::try_from(written).unwrap_or(u32::MAX);
            end.has_more = Some(true);
            break;
        }
        if chunk.len() >= CHUNK {
            chunks.push(std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK)));
        }
    }
    chunk.extend_from_slice(b"],");
    let fields = serde_json::to_vec(&end)?;
    // The fields continue the object that the entries started.
    chunk.extend_from_slice(fields.strip_prefix(b"{").unwrap_or(&fields));
    chunks.push(chunk);
    Ok(chunks)
}

/// A body in chunks. Each chunk is freed when it is sent.
#[derive(Debug, Default)]
struct Chunks {
    chunks: VecDeque<Bytes>,
    bytes: usize,
}

impl Chunks {
    fn push(&mut self, mut chunk: Vec<u8>) {
        // An entry that did not fit has doubled the capacity.
        chunk.shrink_to_fit();
        self.bytes += chunk.len();
        self.chunks.push_back(chunk.into());
    }
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let chunk = this.chunks.pop_front();
        Poll::Ready(chunk.map(|chunk| {
            this.bytes -= chunk.len();
            Ok(Frame::data(chunk))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn end(total: u64, limit: u32, offset: u32) -> End<()> {
        End { total, limit, offset, has_more: None, stats: None }
    }

    fn text(chunks: Chunks) -> Vec<u8> {
        let chunks: Vec<Bytes> = chunks.chunks.into();
        chunks.concat()
    }

    proptest! {
        /// The page is valid JSON, contains a prefix of the entries, reports their number and stays within the limit.
        #[test]
        fn a_page_is_a_prefix_within_the_byte_limit(
            entries in prop::collection::vec("[a-z\"\u{1}]{0,600}", 0..60),
            max in 2_000_usize..20_000,
            offset in 0_u32..1_000,
        ) {
            let total = u64::from(offset) + entries.len() as u64;
            let text = text(write(&entries, end(total, 200, offset), max).unwrap());
            let page: Value = serde_json::from_slice(&text).unwrap();
            let listed: Vec<String> = serde_json::from_value(page["data"].clone()).unwrap();
            prop_assert_eq!(&entries[..listed.len()], listed.as_slice());
            prop_assert!(text.len() <= max || listed.len() == 1, "{} bytes of {max}", text.len());
            prop_assert_eq!((&page["total"], &page["offset"]), (&Value::from(total), &Value::from(offset)));
            if listed.len() == entries.len() {
                prop_assert_eq!(&page["limit"], &Value::from(200));
                prop_assert!(page.get("has_more").is_none());
            } else {
                prop_assert_eq!(&page["limit"], &Value::from(listed.len()));
                prop_assert_eq!(&page["has_more"], &Value::from(true));
            }
        }
    }

    #[test]
    fn the_fields_keep_their_order() {
        let text = text(write(&[1, 2], end(7, 50, 5), PAGE_BYTES_MAX).unwrap());
        assert_eq!(String::from_utf8(text).unwrap(), r#"{"data":[1,2],"total":7,"limit":50,"offset":5}"#);
    }

    #[test]
    fn a_page_is_written_in_chunks() {
        let entries = vec!["x".repeat(40_000); 10];
        let chunks = write(&entries, end(10, 50, 0), PAGE_BYTES_MAX).unwrap();
        assert!(chunks.chunks.len() >= 5, "{}", chunks.chunks.len());
        assert!(chunks.chunks.iter().all(|chunk| chunk.len() < 2 * CHUNK));
    }
}
