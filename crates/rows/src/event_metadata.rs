//! The rows of `event_metadata`: digests of an event's metadata, by which lists find it.

use kalends_app::ports::{FieldCipher, OpenError};
use kalends_kernel::{EventId, Metadata, MetadataFilter, MetadataTerm, OrgId, StoreError};

use crate::{EventContent, Located, places};

/// The digests of an event's metadata, each once.
pub fn metadata_digests(org: OrgId, metadata: &Metadata, cipher: &dyn FieldCipher) -> Vec<i64> {
    let mut digests: Vec<i64> =
        metadata.terms().iter().map(|term| cipher.digest(&of_organization(org, term))).collect();
    digests.sort_unstable();
    digests.dedup();
    digests
}

/// Why a stored event has no digests.
#[derive(Debug)]
pub enum NoDigests {
    /// This node does not know the data key yet. It will, so the event must be read again later.
    Later(StoreError),
    /// The content is corrupt. No list can show the event either.
    Never(StoreError),
}

/// The digests of the metadata of an event whose content is read.
pub fn stored_digests(org: OrgId, id: EventId, content: &str, cipher: &dyn FieldCipher) -> Result<Vec<i64>, NoDigests> {
    let row = Located { table: "events", id };
    let plain = cipher.open(places::event_content(id), content).map_err(|error| {
        let corrupt = row.corrupt("content", &error);
        match error {
            OpenError::UnknownKey(_) => NoDigests::Later(corrupt),
            OpenError::Malformed | OpenError::Forged => NoDigests::Never(corrupt),
        }
    })?;
    let content = row.read("content", EventContent::read(&plain)).map_err(NoDigests::Never)?;
    Ok(metadata_digests(org, &content.metadata, cipher))
}

/// What a statement looks for: digests, each with the filter that it satisfies. An event matches if it has a digest of
/// every filter.
#[derive(Debug)]
pub struct WantedMetadata {
    /// The index of a filter, for each digest.
    pub filters: Vec<i64>,
    /// The digests, under every data key.
    pub digests: Vec<i64>,
    /// The number of filters.
    pub count: i64,
}

impl WantedMetadata {
    /// What is looked for, or `None` if there is no filter.
    pub fn of(org: OrgId, filter: &MetadataFilter, cipher: &dyn FieldCipher) -> Option<Self> {
        if filter.is_empty() {
            return None;
        }
        let mut wanted = Self { filters: Vec::new(), digests: Vec::new(), count: 0 };
        for terms in filter.terms() {
            for digest in terms.iter().flat_map(|term| cipher.digests(&of_organization(org, term))) {
                wanted.filters.push(wanted.count);
                wanted.digests.push(digest);
            }
            wanted.count += 1;
        }
        Some(wanted)
    }
}

/// Equal entries of two organizations have different digests.
fn of_organization(org: OrgId, term: &MetadataTerm) -> Vec<u8> {
    [org.uuid().as_bytes(), term.as_bytes()].concat()
}
