//! Passwords as Argon2id hashes.

use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::available_parallelism,
};

use argon2::{
    Algorithm, Argon2, Block, Params, Version,
    password_hash::phc::{self, Output},
};
use async_trait::async_trait;
use kalends_accounts::{Password, PasswordHash};
use kalends_app::ports::{CredentialsError, PasswordHasher, Verdict};
use kalends_kernel::{Entropy, random_bytes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::threads::Threads;

/// The OWASP recommendation for Argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// The most requests that wait for a turn. Further ones are refused as busy.
const WAITING_MAX: usize = 64;
/// The length of a salt in bytes.
const SALT: usize = 16;

/// Hashes and verifies passwords on dedicated threads.
///
/// Verification takes the same time if the user is unknown or has no password: a hash that no password matches is
/// verified instead.
pub struct Argon2Hasher {
    params: Params,
    entropy: Arc<dyn Entropy>,
    threads: Threads,
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
    nobody: PasswordHash,
}

impl Argon2Hasher {
    /// A hasher with the current parameters.
    ///
    /// # Errors
    /// [`CredentialsError::Failed`] if the hash function cannot be set up.
    pub fn new(entropy: Arc<dyn Entropy>) -> Result<Self, CredentialsError> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(CredentialsError::failed)?;
        // Each hash holds its memory, and more hashes than cores would not be faster.
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self::with(params, entropy, cores, WAITING_MAX)
    }

    fn with(
        params: Params,
        entropy: Arc<dyn Entropy>,
        at_once: usize,
        waiting_max: usize,
    ) -> Result<Self, CredentialsError> {
        // No password has this output, and checking one against it costs as much as any other check.
        let (salt, output) =
            (random_bytes::<SALT>(&*entropy), random_bytes::<{ Params::DEFAULT_OUTPUT_LEN }>(&*entropy));
        let nobody = written(&params, &salt, Output::new(&output).map_err(CredentialsError::failed)?)?;
        let turns = Arc::new(Semaphore::new(at_once));
        let threads = Threads::start(at_once).map_err(CredentialsError::failed)?;
        Ok(Self { params, entropy, threads, turns, waiting: AtomicUsize::new(0), waiting_max, nobody })
    }

    /// Waits for a turn, unless too many requests are already waiting.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, CredentialsError> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let waiting = Waiting::begin(&self.waiting, self.waiting_max).ok_or(CredentialsError::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(CredentialsError::failed);
        drop(waiting);
        turn
    }

    /// Runs `work` on a dedicated thread. The turn lasts as long as the work, even if the caller has stopped waiting.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, CredentialsError> + Send + 'static,
    ) -> Result<T, CredentialsError> {
        let turn = self.turn().await?;
        let ended = self.threads.run(move || {
            let _turn = turn;
            work()
        });
        ended.await.map_err(CredentialsError::failed)?
    }
}

/// A place in the queue.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize, max: usize) -> Option<Self> {
        let place = Self(count);
        (count.fetch_add(1, Ordering::Relaxed) < max).then_some(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    /// The memory in which a thread computes its hashes. It is kept because the blocks are aligned: the allocator
    /// would not reuse the space of the previous hash, and each hash would take another 19 MiB permanently.
    static MEMORY: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

/// Computes a hash. Its length is that of the parameters, or else the default.
fn compute(
    (algorithm, version, params): (Algorithm, Version, &Params),
    password: &[u8],
    salt: &[u8],
    memory: &mut Vec<Block>,
) -> Result<Output, CredentialsError> {
    let blocks = params.block_count();
    if memory.len() < blocks {
        memory.resize(blocks, Block::default());
    }
    let mut buffer = [0; Output::MAX_LENGTH];
    let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN).min(buffer.len());
    let argon2 = Argon2::new(algorithm, version, params.clone());
    let (hash, memory) = (&mut buffer[..length], &mut memory[..blocks]);
    argon2.hash_password_into_with_memory(password, salt, hash, memory).map_err(CredentialsError::failed)?;
    Output::new(hash).map_err(CredentialsError::failed)
}

fn hash(
    params: &Params,
    password: &[u8],
    salt: &[u8],
    memory: &mut Vec<Block>,
) -> Result<PasswordHash, CredentialsError> {
    written(params, salt, compute((Algorithm::Argon2id, Version::V0x13, params), password, salt, memory)?)
}

/// A hash with the current algorithm in the PHC string format.
fn written(params: &Params, salt: &[u8], output: Output) -> Result<PasswordHash, CredentialsError> {
    let hashed = phc::PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: phc::ParamsString::try_from(params).map_err(CredentialsError::failed)?,
        salt: Some(phc::Salt::new(salt).map_err(CredentialsError::failed)?),
        hash: Some(output),
    };
    Ok(PasswordHash::new(hashed.to_string()))
}

/// The stored hash is incomplete and cannot be verified.
#[derive(Debug, thiserror::Error)]
#[error("a password hash has no salt or no hash")]
struct Incomplete;

/// Verifies a password with the parameters of its hash. The comparison takes constant time.
fn verify(
    params: &Params,
    password: &[u8],
    known: &PasswordHash,
    memory: &mut Vec<Block>,
) -> Result<Verdict, CredentialsError> {
    let parsed = phc::PasswordHash::new(known.as_str()).map_err(CredentialsError::failed)?;
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).map_err(CredentialsError::failed)?;
    let version = parsed.version.map(Version::try_from).transpose().map_err(CredentialsError::failed)?;
    let version = version.unwrap_or_default();
    let of_hash = Params::try_from(&parsed).map_err(CredentialsError::failed)?;
    let (salt, expected) = parsed.salt.zip(parsed.hash).ok_or(Incomplete).map_err(CredentialsError::failed)?;
    // Outputs are compared in constant time.
    if compute((algorithm, version, &of_hash), password, &salt, memory)? != expected {
        return Ok(Verdict::Wrong);
    }
    let present = algorithm == Algorithm::Argon2id && version == Version::V0x13 && same_cost(&of_hash, params);
    Ok(Verdict::Right { outdated: !present })
}

fn same_cost(one: &Params, other: &Params) -> bool {
    let cost = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
    cost(one) == cost(other)
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(&self, password: Password) -> Result<PasswordHash, CredentialsError> {
        let (params, salt) = (self.params.clone(), random_bytes::<SALT>(&*self.entropy));
        self.run(move || MEMORY.with_borrow_mut(|memory| hash(&params, password.reveal().as_bytes(), &salt, memory)))
            .await
    }

    async fn verify(&self, password: Password, known: Option<PasswordHash>) -> Result<Verdict, CredentialsError> {
        let (params, nobody) = (self.params.clone(), known.is_none());
        let known = known.unwrap_or_else(|| self.nobody.clone());
        let check = move |memory: &mut Vec<Block>| verify(&params, password.reveal().as_bytes(), &known, memory);
        let verdict = self.run(move || MEMORY.with_borrow_mut(check)).await?;
        Ok(if nobody { Verdict::Wrong } else { verdict })
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

    use super::*;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn entropy() -> Arc<dyn Entropy> {
        Arc::new(Counting(0.into()))
    }

    /// A fast hasher that shares no state with others.
    fn quick(passes: u32, at_once: usize, waiting_max: usize) -> Argon2Hasher {
        let params = Params::new(8, passes, 1, None).unwrap();
        Argon2Hasher::with(params, entropy(), at_once, waiting_max).unwrap()
    }

    fn password(text: &str) -> Password {
        Password::attempt(text.to_owned()).unwrap()
    }

    #[tokio::test]
    async fn a_password_matches_only_its_own_hash() {
        let hasher = Argon2Hasher::new(entropy()).unwrap();
        let known = hasher.hash(password("correct horse")).await.unwrap();
        assert!(known.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", known.as_str());
        let verdict = async |text, known| hasher.verify(password(text), known).await.unwrap();
        assert_eq!(verdict("correct horse", Some(known.clone())).await, Verdict::Right { outdated: false });
        for wrong in ["correct horsf", "correct horse ", "Correct horse", ""] {
            assert_eq!(verdict(wrong, Some(known.clone())).await, Verdict::Wrong);
        }
        assert_eq!(verdict("correct horse", None).await, Verdict::Wrong);
        assert_ne!(hasher.hash(password("correct horse")).await.unwrap(), known, "each has its own salt");
    }

    #[tokio::test]
    async fn hashes_are_compatible_with_argon2() {
        let hasher = quick(2, 1, 1);
        for text in ["", "correct horse", "ü"] {
            let ours = hasher.hash(password(text)).await.unwrap();
            assert_eq!(Argon2::default().verify_password(text.as_bytes(), ours.as_str()), Ok(()), "{text:?}");
            assert!(Argon2::default().verify_password(b"another", ours.as_str()).is_err());
            let theirs = Argon2::default().hash_password_with_salt(text.as_bytes(), &[7; SALT]).unwrap().to_string();
            let verdict = hasher.verify(password(text), Some(PasswordHash::new(theirs))).await.unwrap();
            assert_eq!(verdict, Verdict::Right { outdated: true });
        }
    }

    #[tokio::test]
    async fn the_placeholder_hash_costs_as_much_as_others() {
        let hasher = quick(2, 1, 1);
        let nobody = phc::PasswordHash::new(hasher.nobody.as_str()).unwrap();
        let known = hasher.hash(password("correct horse")).await.unwrap();
        let known = phc::PasswordHash::new(known.as_str()).unwrap();
        assert_eq!((nobody.params, nobody.algorithm), (known.params, known.algorithm));
        assert_eq!(nobody.hash.map(|output| output.len()), known.hash.map(|output| output.len()));
    }

    #[tokio::test]
    async fn hashes_with_other_parameters_match_as_outdated() {
        let (old, new) = (quick(1, 1, 1), quick(2, 1, 1));
        let known = old.hash(password("correct horse")).await.unwrap();
        let verdict = new.verify(password("correct horse"), Some(known.clone())).await.unwrap();
        assert_eq!(verdict, Verdict::Right { outdated: true });
        assert_eq!(new.verify(password("battery"), Some(known)).await.unwrap(), Verdict::Wrong);
        let argon2i = Argon2::new(Algorithm::Argon2i, Version::V0x13, Params::new(8, 2, 1, None).unwrap());
        let known = argon2i.hash_password_with_salt(b"correct horse", &[1; SALT]).unwrap().to_string();
        let verdict = new.verify(password("correct horse"), Some(PasswordHash::new(known))).await.unwrap();
        assert_eq!(verdict, Verdict::Right { outdated: true });
    }

    #[tokio::test]
    async fn a_thread_reuses_its_memory() {
        let hasher = quick(2, 1, 1);
        let place = async || {
            let place = || MEMORY.with_borrow(|memory| (memory.as_ptr().addr(), memory.len()));
            hasher.threads.run(place).await.unwrap()
        };
        let known = hasher.hash(password("correct horse")).await.unwrap();
        let (address, blocks) = place().await;
        assert_eq!(blocks, hasher.params.block_count());
        for text in ["correct horse", "battery"] {
            hasher.verify(password(text), Some(known.clone())).await.unwrap();
            hasher.hash(password(text)).await.unwrap();
            assert_eq!(place().await, (address, blocks));
        }
    }

    #[tokio::test]
    async fn an_invalid_hash_is_an_error() {
        let hasher = quick(1, 1, 1);
        for broken in ["", "plain", "$argon2id$", "$2b$10$abcdefghijklmnopqrstuu"] {
            let verdict = hasher.verify(password("x"), Some(PasswordHash::new(broken.to_owned()))).await;
            assert!(matches!(verdict, Err(CredentialsError::Failed(_))), "{broken:?}: {verdict:?}");
        }
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_are_refused() {
        let hasher = Arc::new(quick(1, 1, 2));
        let turn = hasher.turn().await.unwrap();
        let wait = || {
            let hasher = Arc::clone(&hasher);
            tokio::spawn(async move { hasher.verify(password("x"), None).await })
        };
        let waiting = [wait(), wait()];
        while hasher.waiting.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(hasher.verify(password("x"), None).await, Err(CredentialsError::Busy)));
        // A cancelled request leaves its place to another.
        let [gone, stays] = waiting;
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        let next = wait();
        while hasher.waiting.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        drop(turn);
        assert_eq!(stays.await.unwrap().unwrap(), Verdict::Wrong);
        assert_eq!(next.await.unwrap().unwrap(), Verdict::Wrong);
        assert_eq!(hasher.waiting.load(Ordering::Relaxed), 0);
    }
}
