//! Files that the tests of one binary share.
//!
//! The test runner gives each test a process of its own. What depends only on the binary under test and on the code
//! that makes it, and takes long to make, is therefore made by the first test that needs it and kept for the others.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    sync::LazyLock,
    time::SystemTime,
};

use crate::under_test::binary;

/// The folder of all kept files, next to the tests' own binaries.
const FOLDER: &str = "kalends-e2e-kept";
/// For how many other binaries files are kept.
const OTHERS: usize = 2;

/// The code that makes the kept files.
const MADE_BY: [&str; 3] = [include_str!("database.rs"), include_str!("description.rs"), include_str!("kept.rs")];

/// The name of what is kept for the binary under test. A binary at another path or with other content has another one,
/// and so has the same binary once the code that makes the files changes.
pub(crate) static STAMP: LazyLock<String> = LazyLock::new(|| {
    let path = binary();
    let found = fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut hasher = DefaultHasher::new();
    (path, found.len(), found.modified().expect("a time of change"), MADE_BY).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
});

/// The text that `make` returns for the binary under test.
pub(crate) fn text(name: &str, make: impl FnOnce() -> String) -> String {
    let kept = file(name, |path| fs::write(path, make()).expect("a file that can be written"));
    fs::read_to_string(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()))
}

/// The path of the file that `make` writes for the binary under test, at the path that it is given.
pub(crate) fn file(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let all = test.with_file_name(FOLDER);
    let own = all.join(&*STAMP);
    let kept = own.join(name);
    touch(&own);
    if kept.exists() {
        return kept;
    }
    fs::create_dir_all(&all).expect("a folder next to the tests");
    // One test at a time makes a file. The lock ends with its file, even if the test is killed.
    let lock = File::create(all.join("lock")).expect("a file next to the tests");
    lock.lock().expect("a lock");
    if !kept.exists() {
        fs::create_dir_all(&own).expect("a folder next to the tests");
        drop_oldest(&all, &own);
        let part = own.join(format!("{name}.part"));
        make(&part);
        fs::rename(&part, &kept).expect("a file in a folder of the tests");
    }
    kept
}

/// Marks a folder as used now, so that no other run takes it for an old one.
#[expect(clippy::disallowed_methods, reason = "not part of the service; files have the times of the machine")]
fn touch(folder: &Path) {
    // The first test that needs the folder makes it.
    if let Ok(folder) = File::open(folder) {
        folder.set_modified(SystemTime::now()).expect("a folder of the tests");
    }
}

/// Removes the files of all other binaries than `own` but those that were used last.
fn drop_oldest(all: &Path, own: &Path) {
    let entries = fs::read_dir(all).expect("a readable folder").flatten();
    let others = entries.map(|entry| entry.path()).filter(|path| path.is_dir() && path != own);
    let mut others: Vec<_> =
        others.filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path))).collect();
    others.sort();
    let old = others.len().saturating_sub(OTHERS);
    for (_, folder) in others.drain(..old) {
        // A folder that cannot be removed only takes space.
        let _ = fs::remove_dir_all(folder);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_folders_that_were_used_last_stay() {
        let all = tempfile::tempdir().unwrap();
        let folders = ["used", "older", "newer"].map(|name| all.path().join(name));
        for (folder, seconds) in folders.iter().zip(1..) {
            fs::create_dir(folder).unwrap();
            File::open(folder).unwrap().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        touch(&folders[0]);
        drop_oldest(all.path(), &all.path().join("own"));
        assert_eq!(folders.map(|folder| folder.exists()), [true, false, true]);
    }

    #[test]
    fn a_kept_text_is_made_once() {
        let name = format!("test-{}", std::process::id());
        assert_eq!(text(&name, || "made".to_owned()), "made");
        assert_eq!(text(&name, || panic!("made again")), "made");
        fs::remove_file(file(&name, |_| panic!("gone"))).unwrap();
    }
}
