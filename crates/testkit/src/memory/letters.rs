//! Letters (outgoing mail).

use async_trait::async_trait;
use kalends_kernel::{LetterId, OrgId, StoreError};
use kalends_notifications::{ClaimedLetter, Fence, LETTER_CLAIM_LASTS, Letter, LetterEnd, ports::Letters};
use kalends_time::Timestamp;

use super::{MemoryStore, state::LetterRow};

/// Whether a letter is newer than another one to the same recipient.
fn is_newer(letter: &Letter, other: &Letter) -> bool {
    let to = |letter: &Letter| (letter.org, letter.recipient);
    let when = |letter: &Letter| (letter.created_at, letter.id);
    to(letter) == to(other) && when(letter) > when(other)
}

fn waits_for(letter: &Letter, other: &Letter) -> bool {
    is_newer(letter, other) && letter.about.waits_for(other.about)
}

fn supersedes(letter: &Letter, other: &Letter) -> bool {
    is_newer(letter, other) && letter.about.supersedes(other.about)
}

#[async_trait]
impl Letters for MemoryStore {
    async fn claim_letters(&self, now: Timestamp, limit: u32) -> Result<Vec<ClaimedLetter>, StoreError> {
        Ok(self.write(|state| {
            let is_first = |letter: &Letter| {
                let blocks = |row: &LetterRow| row.fence == 0 || row.fence > i64::from(row.put_off);
                !state.letters.values().any(|row| blocks(row) && waits_for(letter, &row.letter))
            };
            let is_due = |row: &LetterRow| row.due_at <= now && is_first(&row.letter);
            let mut due: Vec<_> = state.letters.iter().filter(|(_, row)| is_due(row)).collect();
            due.sort_by_key(|(key, row)| (row.due_at, **key));
            let keys: Vec<_> = due.into_iter().map(|(key, _)| *key).take(limit as usize).collect();
            let mut claimed = Vec::new();
            for key in keys {
                let Some(row) = state.letters.get_mut(&key) else { continue };
                row.due_at = now + LETTER_CLAIM_LASTS;
                row.fence += 1;
                let row = row.clone();
                let superseded = state.letters.values().any(|other| supersedes(&other.letter, &row.letter));
                claimed.push(ClaimedLetter {
                    letter: row.letter,
                    fence: Fence(row.fence),
                    put_off: row.put_off,
                    superseded,
                });
            }
            claimed
        }))
    }

    async fn end_letter(&self, org: OrgId, letter: LetterId, fence: Fence, end: LetterEnd) -> Result<(), StoreError> {
        self.write(|state| {
            let Some(row) = state.letters.get_mut(&(org, letter)).filter(|row| row.fence == fence.0) else { return };
            match end {
                LetterEnd::Sent => {
                    if let Some(sent) = state.letters.remove(&(org, letter)) {
                        state.letters.retain(|_, row| !supersedes(&sent.letter, &row.letter));
                    }
                }
                LetterEnd::Dropped => {
                    state.letters.remove(&(org, letter));
                }
                LetterEnd::PutOff(until) => {
                    row.due_at = until;
                    row.put_off = u32::try_from(row.fence).unwrap_or(u32::MAX);
                }
            }
        });
        Ok(())
    }
}
