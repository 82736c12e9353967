//! The port `Metering` of the service on plain files, held to the conformance suite of that port.
//!
//! Each organization has a folder, and each counter a file with a number in it. A counter is replaced by renaming a
//! complete new file over it, so a crash leaves the old number or the new one. A lock on the folder keeps other processes
//! out.

use std::{
    error::Error,
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use kalends_app::ports::{Debited, Metering};
use kalends_kernel::{OrgId, StoreError};
use kalends_plans::{Counted, Metric};
use kalends_quotas::{Debit, Lease, Period, Refund, Take};
use kalends_time::Timestamp;

/// Usage counters in a folder.
struct Folder {
    root: PathBuf,
    /// The lock file. The lock ends with the process, even if it is killed.
    _lock: File,
    /// Held while a counter is read and replaced.
    one_at_a_time: Mutex<()>,
}

impl Folder {
    /// Opens a folder, or makes a new one. Fails if another process has it open.
    fn open(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let lock = File::options().create(true).truncate(false).write(true).open(root.join("lock"))?;
        lock.try_lock()?;
        Ok(Self { root: root.to_owned(), _lock: lock, one_at_a_time: Mutex::new(()) })
    }

    /// The file of a counter, such as `org_…/api_calls-202703`.
    fn file(&self, org: OrgId, metric: Metric, period: Period) -> PathBuf {
        self.root.join(org.to_string()).join(format!("{}-{}", metric.as_str(), period.number()))
    }

    /// The number in a file. `None` if there is no file.
    fn read(file: &Path) -> Result<Option<u64>, StoreError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let corrupt = |error: std::num::ParseIntError| StoreError::corrupt("files", "used", file.display(), error);
        text.trim_end().parse().map(Some).map_err(corrupt)
    }

    /// Replaces a file. The number is on the disk when this returns.
    fn write(file: &Path, number: u64) -> io::Result<()> {
        let folder = file.parent().ok_or(ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        let new = file.with_extension("new");
        let mut writer = File::create(&new)?;
        writeln!(writer, "{number}")?;
        writer.sync_all()?;
        fs::rename(&new, file)?;
        // The name is part of the folder, which is a file of its own.
        File::open(folder)?.sync_all()
    }
}

fn failed(error: io::Error) -> StoreError {
    StoreError::Failed(error.into())
}

/// Every method blocks its thread for a small read and at most one small write. A busy service would move them to
/// `tokio::task::spawn_blocking`.
#[async_trait]
impl Metering for Folder {
    async fn debit(&self, org: OrgId, metric: Metric, debit: &Debit) -> Result<Debited, StoreError> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file(org, metric, debit.period());
        let used = Self::read(&file)?.unwrap_or(0);
        if !debit.fits(used) {
            return Ok(Debited::Refused { used });
        }
        let used = used.saturating_add(debit.amount());
        Self::write(&file, used).map_err(failed)?;
        Ok(Debited::Granted { used })
    }

    async fn refund(&self, org: OrgId, metric: Metric, refund: Refund) -> Result<(), StoreError> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file(org, metric, refund.period());
        match Self::read(&file)? {
            Some(used) => Self::write(&file, used.saturating_sub(refund.amount())).map_err(failed),
            None => Ok(()),
        }
    }

    /// This store has nothing but counters, so no metric counts what exists.
    async fn usage(&self, org: OrgId, period: Period, _now: Timestamp) -> Result<Vec<(Metric, u64)>, StoreError> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let monthly = Metric::ALL.into_iter().filter(|metric| metric.counted() == Counted::Monthly);
        let counters = monthly.map(|metric| Ok((metric, Self::read(&self.file(org, metric, period))?.unwrap_or(0))));
        counters.filter(|used| !matches!(used, Ok((_, 0)))).collect()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let root = tempfile::tempdir()?;
    let org: OrgId = "org_00000000000000000000000001".parse()?;
    let now: Timestamp = "2027-03-15T12:00:00Z".parse()?;
    let limit = Some(1_000);
    let mut served = 0;
    // Each round is a process that counts 600 calls and stops.
    for _ in 0..2 {
        let (folder, mut lease) = (Folder::open(root.path())?, Lease::new());
        for _ in 0..600 {
            served += u64::from(admit(&folder, &mut lease, org, now, limit).await?);
        }
        if let Some(refund) = lease.give_back() {
            folder.refund(org, Metric::ApiCalls, refund).await?;
        }
    }
    let usage = Folder::open(root.path())?.usage(org, Period::of(now), now).await?;
    println!("{served} of 1200 calls were served, and the files count {usage:?}");
    let expected = (1_000, vec![(Metric::ApiCalls, 1_000)]);
    if (served, usage) == expected { Ok(()) } else { Err("the files do not count what was served".into()) }
}

/// Whether one more call is admitted.
async fn admit(
    store: &impl Metering,
    lease: &mut Lease,
    org: OrgId,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<bool, StoreError> {
    loop {
        match lease.take(now, limit) {
            Take::Spent(_) => return Ok(true),
            Take::Exhausted => return Ok(false),
            Take::Need { debit, refund } => {
                if let Some(refund) = refund {
                    store.refund(org, Metric::ApiCalls, refund).await?;
                }
                match store.debit(org, Metric::ApiCalls, &debit).await? {
                    Debited::Refused { used } => lease.refused(debit, used, now),
                    Debited::Granted { used } => {
                        if let Some(refund) = lease.granted(debit, used) {
                            store.refund(org, Metric::ApiCalls, refund).await?;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kalends_testkit::conformance::metering::MeteringUnderTest;
    use tempfile::TempDir;

    use super::*;

    struct UnderTest {
        folder: Arc<Folder>,
        _root: TempDir,
    }

    #[async_trait]
    impl MeteringUnderTest for UnderTest {
        fn metering(&self) -> Arc<dyn Metering> {
            Arc::<Folder>::clone(&self.folder)
        }

        async fn organizations(&self) -> [OrgId; 2] {
            [1, 2].map(|number| format!("org_{number:026}").parse().unwrap())
        }
    }

    async fn empty_folder() -> UnderTest {
        let root = tempfile::tempdir().unwrap();
        UnderTest { folder: Arc::new(Folder::open(root.path()).unwrap()), _root: root }
    }

    kalends_testkit::port_suite!(metering, empty_folder);

    #[test]
    fn the_example_runs() {
        main().unwrap();
    }

    #[tokio::test]
    async fn a_damaged_counter_is_an_error() {
        let under_test = empty_folder().await;
        let [org, _] = under_test.organizations().await;
        let period = Period::of(Timestamp::EPOCH);
        let debit = Debit::one(period, None);
        assert_eq!(under_test.folder.debit(org, Metric::Events, &debit).await.unwrap(), Debited::Granted { used: 1 });
        fs::write(under_test.folder.file(org, Metric::Events, period), "one").unwrap();
        let error = under_test.folder.debit(org, Metric::Events, &debit).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    }

    #[tokio::test]
    async fn a_folder_is_open_once() {
        let under_test = empty_folder().await;
        assert!(Folder::open(&under_test.folder.root).is_err());
    }
}
