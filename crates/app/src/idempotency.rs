//! Requests that may be repeated: the stored answer is replayed, and a repetition that comes while
//! the first is still running is told so (ruling 2.8).

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use kalends_kernel::{KeyId, OrgId, UserId};
use sha2::{Digest, Sha256};

use crate::{Answer, App, Idempotency, Refusal, operations::Operation};

/// The scopes of the requests that this process is answering now.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashSet<[u8; 32]>>>);

/// Marks a request as running until it is dropped.
pub struct RunningGuard {
    running: Running,
    scope: [u8; 32],
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.scope);
    }
}

/// Who repeats a request: keys of one organization do not share answers with those of another, nor
/// anonymous callers of one address with those of another, nor humans with each other.
#[derive(Debug, Clone, Copy)]
pub enum Repeater<'a> {
    /// The holder of a key.
    Key(OrgId, KeyId),
    /// A human in the console, by the organization that is open: in whichever session.
    Human(OrgId, UserId),
    /// Somebody without a key, by address.
    Anonymous(&'a str),
}

impl Idempotency {
    /// The identity of a request: `key` as the caller chose it, `target` the concrete path and query.
    pub fn of(repeater: Repeater<'_>, operation: &Operation, key: &str, target: &str, body: &[u8]) -> Self {
        // Lengths go in front so that no two different inputs run together.
        let digest = |parts: &[&[u8]]| {
            let mut sha = Sha256::new();
            for part in parts {
                sha.update((part.len() as u64).to_le_bytes());
                sha.update(part);
            }
            sha.finalize().into()
        };
        let scope = match repeater {
            Repeater::Key(org, id) => {
                digest(&[org.uuid().as_bytes(), id.uuid().as_bytes(), operation.id.as_bytes(), key.as_bytes()])
            }
            Repeater::Human(org, id) => digest(&[
                org.uuid().as_bytes(),
                id.uuid().as_bytes(),
                operation.id.as_bytes(),
                key.as_bytes(),
                b"human",
            ]),
            Repeater::Anonymous(address) => digest(&[address.as_bytes(), operation.id.as_bytes(), key.as_bytes()]),
        };
        Self { scope, fingerprint: digest(&[target.as_bytes(), body]) }
    }
}

impl App {
    /// Forgets up to `limit` answers that nobody gets any more, and says whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_answers(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.store.forget_answers(self.now(), limit).await? < u64::from(limit))
    }

    /// Marks the request as running.
    ///
    /// # Errors
    /// [`Refusal::StillRunning`] where it already is, in this process.
    pub fn begin(&self, idempotency: &Idempotency) -> Result<RunningGuard, Refusal> {
        let fresh = self.running.0.lock().unwrap_or_else(PoisonError::into_inner).insert(idempotency.scope);
        if fresh {
            Ok(RunningGuard { running: self.running.clone(), scope: idempotency.scope })
        } else {
            Err(Refusal::StillRunning)
        }
    }

    /// The answer that the request got before, if it was made before. One that says that a key opens nothing any more
    /// is told no sooner than it is true of every node, as by the node that gave it.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyMismatch`] where another request had the same key.
    pub async fn earlier_answer(
        &self,
        operation: &Operation,
        idempotency: &Idempotency,
    ) -> Result<Option<Answer>, Refusal> {
        let now = self.now();
        match self.store.find_answer(idempotency.scope, now).await? {
            None => Ok(None),
            Some(stored) if stored.fingerprint == idempotency.fingerprint => {
                if operation.may_end_keys() {
                    self.wait_out_principals_since(now - stored.created_at).await;
                }
                Ok(Some(stored.answer))
            }
            Some(_) => Err(Refusal::IdempotencyMismatch),
        }
    }
}
