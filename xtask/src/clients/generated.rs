//! Folders of generated code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// The number of differences that are listed.
const LISTED: usize = 20;
/// What Python writes next to its modules.
const CACHES: [&str; 2] = ["__pycache__", ".ruff_cache"];

/// The files of a folder, by their path in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Generated {
    files: BTreeMap<String, String>,
}

impl Generated {
    /// Reads a folder. One that does not exist has no files.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut generated = Self::default();
        if folder.exists() {
            generated.read_below(folder, "").with_context(|| format!("cannot read {}", folder.display()))?;
        }
        Ok(generated)
    }

    fn read_below(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if CACHES.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                self.read_below(&entry.path(), &format!("{path}/"))?;
            } else {
                let text = fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
                self.files.insert(path, text);
            }
        }
        Ok(())
    }

    /// Replaces a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        for (path, text) in &self.files {
            let file = folder.join(path);
            let parent = file.parent().unwrap_or(folder);
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }

    /// What differs in the repository, a file per line.
    pub(super) fn differences(&self, known: &Self) -> Vec<String> {
        let paths = self.files.keys().chain(known.files.keys().filter(|path| !self.files.contains_key(*path)));
        let differs = |path: &&String| self.files.get(*path) != known.files.get(*path);
        let mut found: Vec<String> = paths
            .filter(differs)
            .map(|path| match (self.files.contains_key(path), known.files.contains_key(path)) {
                (true, false) => format!("+ {path}"),
                (false, _) => format!("- {path}"),
                (true, true) => format!("~ {path}"),
            })
            .collect();
        if found.len() > LISTED {
            let more = found.split_off(LISTED).len();
            found.push(format!("and {more} more"));
        }
        found
    }

    /// The number of files.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// The number of bytes in all files.
    pub(super) fn size(&self) -> usize {
        self.files.values().map(String::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Generated {
        Generated { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (files(&[("old.py", "1"), ("a/b.py", "2")]), files(&[("a/b.py", "3"), ("c.py", "")]));
        let made = folder.path().join("made");
        for generated in [old, new] {
            generated.write(&made).unwrap();
            assert_eq!(Generated::read(&made).unwrap(), generated);
        }
    }

    #[test]
    fn each_file_that_differs_is_listed() {
        let made = files(&[("a.py", "1"), ("b.py", "2"), ("c.py", "3")]);
        let known = files(&[("a.py", "1"), ("b.py", "0"), ("d.py", "4")]);
        assert_eq!(made.differences(&known), ["~ b.py", "+ c.py", "- d.py"]);
        assert!(made.differences(&made).is_empty());
    }

    #[test]
    fn a_folder_that_does_not_exist_is_empty() {
        assert_eq!(Generated::read(Path::new("/kalends-no-such-folder")).unwrap(), Generated::default());
    }
}
