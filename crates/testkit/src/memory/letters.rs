//! Letters (outgoing mail).

use std::{cmp::Reverse, collections::BTreeMap};

use async_trait::async_trait;
use kalends_kernel::{LetterId, OrgId, StoreError};
use kalends_notifications::{
    ClaimedLetter, FailedLetter, Fence, LETTER_CLAIM_LASTS, Letter, LetterEnd, LetterRecord, LetterWork, RecordSearch,
    Withdrawn, ports::Letters,
};
use kalends_time::{CivilDate, Timestamp, Zone};

use super::{
    MemoryStore,
    state::{LetterRow, State},
};

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

    async fn end_letter(
        &self,
        org: OrgId,
        letter: LetterId,
        fence: Fence,
        work: &LetterWork,
    ) -> Result<(), StoreError> {
        self.write(|state| {
            if matches!(work.end, LetterEnd::Sent) && !state.letters.contains_key(&(org, letter)) {
                state.change_record((org, letter), |record| record.sent_all_the_same(work.clone()));
            }
            let Some(row) = state.letters.get_mut(&(org, letter)).filter(|row| row.fence == fence.0) else { return };
            let mut superseded = Vec::new();
            match work.end {
                LetterEnd::Sent => {
                    if let Some(sent) = state.letters.remove(&(org, letter)) {
                        let older = state.letters.extract_if(.., |_, row| supersedes(&sent.letter, &row.letter));
                        superseded.extend(older.map(|(key, _)| key));
                    }
                }
                LetterEnd::Dropped(_) => {
                    state.letters.remove(&(org, letter));
                }
                LetterEnd::PutOff(until) => {
                    row.due_at = until;
                    row.put_off = u32::try_from(row.fence).unwrap_or(u32::MAX);
                }
            }
            state.change_record((org, letter), |record| record.after(work.clone()));
            for key in superseded {
                state.change_record(key, |record| record.superseded(work.at));
            }
        });
        Ok(())
    }

    async fn letter_records(&self, org: OrgId, search: RecordSearch) -> Result<Vec<LetterRecord>, StoreError> {
        let state = self.state();
        let matches = |record: &&LetterRecord| {
            record.org == org
                && search.before.is_none_or(|before| record.id < before)
                && search.status.is_none_or(|status| record.status == status)
        };
        Ok(state.letter_records.values().rev().filter(matches).take(search.limit as usize).cloned().collect())
    }

    async fn failed_letters(&self, limit: u32, of_each: u32, among: u32) -> Result<Vec<FailedLetter>, StoreError> {
        let state = self.state();
        let mut taken: BTreeMap<OrgId, u32> = BTreeMap::new();
        let failed = state.failed_letters().take(among as usize).filter_map(|record| {
            let taken = taken.entry(record.org).or_default();
            *taken += 1;
            if *taken > of_each {
                return None;
            }
            let organization = state.organizations.get(&record.org)?;
            Some(FailedLetter::of(record.clone(), organization.name.as_str().to_owned()))
        });
        Ok(failed.take(limit as usize).collect())
    }

    async fn failed_letters_by_day(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<BTreeMap<CivilDate, u64>, StoreError> {
        let state = self.state();
        let mut days = BTreeMap::new();
        for record in state.failed_letters().filter(|record| record.created_at >= since).take(limit as usize) {
            *days.entry(Zone::UTC.to_civil(record.created_at).date).or_default() += 1;
        }
        Ok(days)
    }

    async fn forget_letter_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let mut old: Vec<_> = state.letter_records.values().filter(|record| record.created_at < before).collect();
            old.sort_by_key(|record| record.created_at);
            let old: Vec<_> = old.into_iter().map(|record| (record.org, record.id)).take(limit as usize).collect();
            state.letter_records.retain(|key, _| !old.contains(key));
            old.len() as u64
        }))
    }
}

impl State {
    /// The records of letters that have failed, the newest first.
    fn failed_letters(&self) -> impl Iterator<Item = &LetterRecord> {
        let mut failed: Vec<_> = self.letter_records.values().filter(|record| record.has_failed()).collect();
        failed.sort_by_key(|record| Reverse((record.created_at, record.id)));
        failed.into_iter()
    }

    /// Removes the letters about what was taken back.
    pub(super) fn withdraw_letters(&mut self, org: OrgId, withdrawn: Withdrawn) {
        let is_gone = |letter: &Letter| {
            (letter.org, letter.recipient, letter.about.event) == (org, withdrawn.recipient, withdrawn.about.event)
        };
        let gone: Vec<_> = self.letters.extract_if(.., |_, row| is_gone(&row.letter)).map(|(key, _)| key).collect();
        for key in gone {
            self.change_record(key, |record| record.withdrawn(withdrawn.at));
        }
    }

    fn change_record(&mut self, key: (OrgId, LetterId), change: impl FnOnce(LetterRecord) -> LetterRecord) {
        if let Some(record) = self.letter_records.remove(&key) {
            self.letter_records.insert(key, change(record));
        }
    }
}
