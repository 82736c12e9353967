//! The data directory, and the keys generated into it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use kalends_kernel::{Entropy, base64url, random_bytes};
use zeroize::Zeroizing;

/// The length of a generated key in bytes.
const KEY: usize = 32;

/// A directory that only its owner can access.
pub(crate) struct DataDir(PathBuf);

impl DataDir {
    /// Creates the directory if it is missing. An existing one keeps its mode.
    pub(crate) fn make(path: &Path) -> anyhow::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("cannot create the data directory {}", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// The file of the master key.
    pub(crate) fn master_key(&self) -> KeyFile {
        KeyFile(self.0.join("master.key"))
    }

    /// The file of the key that signs sessions.
    pub(crate) fn session_key(&self) -> KeyFile {
        KeyFile(self.0.join("session.key"))
    }

    /// Lets one rotation of the master key run at a time. The lock is held as long as the returned file.
    ///
    /// # Errors
    /// If another rotation is running.
    pub(crate) fn lock_rotation(&self) -> anyhow::Result<File> {
        let lock = lock(&self.0.join("rotation.lock"))?;
        lock.context("another rotation of the master key is running in this data directory")
    }
}

/// Whether other users of the machine may write to a folder, and so replace the database or its keys.
pub(crate) fn others_may_write(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o022 != 0)
}

/// Lets one server at a time serve the SQLite database at `database`. The lock is held as long as the returned file,
/// and ends even if the process is killed. Operator commands do not take it.
///
/// # Errors
/// If another server holds the lock.
pub(crate) fn lock_database(database: &Path) -> anyhow::Result<File> {
    // All names of one file share one lock.
    let file = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
    let mut path = file.into_os_string();
    path.push(".lock");
    lock(Path::new(&path))?.with_context(|| {
        format!(
            "another server already serves the database {}: stop it, or set KALENDS_DATA_DIR to another folder",
            database.display()
        )
    })
}

/// Locks the file at `path`, which is created if it is missing. Returns `None` if another process holds the lock.
fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

/// A file that holds a key as text, readable by its owner only.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile(PathBuf);

impl KeyFile {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn exists(&self) -> bool {
        self.0.exists()
    }

    /// The text of the file.
    pub(crate) fn read(&self) -> io::Result<Zeroizing<String>> {
        fs::read_to_string(&self.0).map(|text| Zeroizing::new(text.trim().to_owned()))
    }

    /// The text of the file. If the file is missing, it is created with a fresh key. If several processes start
    /// together, one creates it and all read the same key.
    pub(crate) fn read_or_generate(&self, entropy: &dyn Entropy) -> anyhow::Result<Zeroizing<String>> {
        let read = || self.read().with_context(|| format!("cannot read {}", self.0.display()));
        if self.exists() {
            return read();
        }
        let written = self.write_aside(&generate(entropy), entropy).and_then(|aside| {
            // Unlike a rename, a link does not replace a file that another process has created.
            let linked = match fs::hard_link(&aside, &self.0) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(()),
            };
            fs::remove_file(&aside)?;
            linked?;
            self.sync_directory()
        });
        written.with_context(|| format!("cannot create the key file {}", self.0.display()))?;
        read()
    }

    /// Replaces the text atomically: a reader sees either the old text or the new one.
    pub(crate) fn replace(&self, text: &str, entropy: &dyn Entropy) -> anyhow::Result<()> {
        self.write_aside(text, entropy)
            .and_then(|aside| fs::rename(aside, &self.0))
            .and_then(|()| self.sync_directory())
            .with_context(|| format!("cannot write {}", self.0.display()))
    }

    /// Writes the text to a new file next to this one, and syncs it to disk: data must not be encrypted with a key
    /// that a crash can lose.
    fn write_aside(&self, text: &str, entropy: &dyn Entropy) -> io::Result<PathBuf> {
        let unique = base64url(&random_bytes::<9>(entropy));
        let aside = self.0.with_extension(format!("{unique}.part"));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
        writeln!(file, "{text}")?;
        file.sync_all()?;
        Ok(aside)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
    }
}

/// A fresh key as text.
pub(crate) fn generate(entropy: &dyn Entropy) -> Zeroizing<String> {
    let bytes = Zeroizing::new(random_bytes::<KEY>(entropy));
    Zeroizing::new(BASE64_STANDARD.encode(bytes.as_slice()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::ambient::SystemEntropy;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn keys_are_generated_once_and_for_the_owner_only() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        let data = DataDir::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        let key = data.master_key().read_or_generate(&SystemEntropy).unwrap();
        assert_eq!(BASE64_STANDARD.decode(key.as_bytes()).unwrap().len(), KEY);
        assert_eq!(mode(data.master_key().path()), 0o600);
        assert_eq!(*data.master_key().read_or_generate(&SystemEntropy).unwrap(), *key);
        assert_ne!(*data.session_key().read_or_generate(&SystemEntropy).unwrap(), *key);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn processes_that_start_together_read_the_same_key() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::make(root.path()).unwrap();
        let keys: Vec<_> = thread::scope(|scope| {
            let starts: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| data.master_key().read_or_generate(&SystemEntropy).unwrap().to_string()))
                .collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn replacing_a_key_keeps_the_file_mode() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::make(root.path()).unwrap();
        let file = data.master_key();
        file.read_or_generate(&SystemEntropy).unwrap();
        file.replace("new,old", &SystemEntropy).unwrap();
        assert_eq!(*file.read().unwrap(), "new,old");
        assert_eq!(mode(file.path()), 0o600);
    }

    #[test]
    fn one_server_at_a_time_serves_a_database() {
        let root = tempfile::tempdir().unwrap();
        let database = root.path().join("kalends.db");
        let lock = lock_database(&database).unwrap();
        let refused = lock_database(&database).unwrap_err().to_string();
        assert!(refused.contains("another server already serves") && refused.contains("KALENDS_DATA_DIR"), "{refused}");
        lock_database(&root.path().join("other.db")).unwrap();
        fs::write(&database, "").unwrap();
        let link = root.path().join("link.db");
        std::os::unix::fs::symlink(&database, &link).unwrap();
        assert!(lock_database(&link).is_err(), "another name of the same file");
        drop(lock);
        lock_database(&database).unwrap();
    }

    #[test]
    fn a_directory_writable_by_others_is_detected() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::make(&root.path().join("data")).unwrap();
        for (mode, open) in [(0o700, false), (0o755, false), (0o770, true), (0o777, true), (0o702, true)] {
            fs::set_permissions(&data.0, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(others_may_write(&data.0), open, "{mode:o}");
        }
    }

    #[test]
    fn one_rotation_runs_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::make(root.path()).unwrap();
        let lock = data.lock_rotation().unwrap();
        assert!(data.lock_rotation().unwrap_err().to_string().contains("another rotation"));
        drop(lock);
        data.lock_rotation().unwrap();
    }
}
