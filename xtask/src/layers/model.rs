//! The repository as the rules see it: packages and text files.

use std::io::ErrorKind;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::{self, Package, Workspace};

/// Everything that a rule may look at.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) packages: Vec<Package>,
    /// Every text file that is tracked or would be, except lock files.
    pub(crate) files: Vec<File>,
}

/// One text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/` between names.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Model {
    /// Reads the repository.
    pub(crate) fn read() -> Result<Self> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let names = process::read(Command::new("git").args(list).current_dir(workspace::root()))?;
        let names = names.split('\0').filter(|name| !name.is_empty() && !name.ends_with(".lock"));
        let files = names.filter_map(|name| File::read(name).transpose()).collect::<Result<_>>()?;
        Ok(Self { packages: Workspace::load()?.packages, files })
    }

    /// The packages under `crates/`, each with its short name.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &Package)> {
        self.packages.iter().filter_map(|package| Some((package.folder.strip_prefix("crates/")?, package)))
    }

    /// The file with that path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    /// The text of a file. `None` if it is binary, or deleted but still tracked.
    fn read(path: &str) -> Result<Option<Self>> {
        let bytes = match std::fs::read(workspace::root().join(path)) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        Ok(String::from_utf8(bytes).ok().map(|text| Self { path: path.into(), text }))
    }

    /// The crate whose `src` contains this Rust file.
    pub(crate) fn source_of(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        (rest.starts_with("src/") && rest.ends_with(".rs")).then_some(name)
    }

    /// Whether the file contains only tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! Small broken repositories for the tests of the rules.

    use super::{File, Model};
    use crate::workspace::{Dependency, Kind, Package};

    /// A model with only these files.
    pub(crate) fn files(files: &[(&str, &str)]) -> Model {
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        Model { files: files.iter().map(file).collect(), ..Model::default() }
    }

    /// A model with only these crates: short names, and the full names of their dependencies.
    pub(crate) fn crates(crates: &[(&str, &[(&str, Kind)])]) -> Model {
        let package = |(name, dependencies): &(&str, &[(&str, Kind)])| Package {
            name: format!("kalends-{name}"),
            folder: format!("crates/{name}"),
            has_library: true,
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).into(), kind: *kind })
                .collect(),
            ..Package::default()
        };
        Model { packages: crates.iter().map(package).collect(), ..Model::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_belong_to_their_crate() {
        let of = |path: &str| fixture::files(&[(path, "")]).files[0].source_of().map(String::from);
        assert_eq!(of("crates/mail/src/smtp/tls.rs").as_deref(), Some("mail"));
        assert_eq!(of("crates/mail/tests/smtp.rs"), None);
        assert_eq!(of("crates/mail/src/template.txt"), None);
        assert_eq!(of("xtask/src/main.rs"), None);
    }
}
