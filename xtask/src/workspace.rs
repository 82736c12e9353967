//! Cargo's metadata of this workspace: its packages, their direct dependencies, its target directory.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The packages of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    /// Cargo's target directory.
    pub(crate) target: PathBuf,
}

/// One package of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its folder, relative to the root, with `/` between names.
    pub(crate) folder: String,
    pub(crate) has_library: bool,
    pub(crate) version: String,
    /// The oldest Rust that builds it, such as `1.95`.
    pub(crate) rust_version: String,
    /// Whether its manifest lets it be published in a registry.
    pub(crate) is_published: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A direct dependency, by its name in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    /// Asks Cargo. This needs no network.
    pub(crate) fn load() -> Result<Self> {
        let text = process::read(&mut process::cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
        Self::parse(&text)
    }

    /// Reads the JSON of `cargo metadata`.
    pub(crate) fn parse(metadata: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(metadata).context("cargo metadata did not print JSON")?;
        let root = text(&json, "workspace_root")?;
        let packages = array(&json, "packages")?.iter().map(|package| Package::parse(package, root));
        Ok(Self { packages: packages.collect::<Result<_>>()?, target: text(&json, "target_directory")?.into() })
    }

    /// The packages that other projects get from a registry.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_published)
    }

    /// The package of that name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    fn parse(package: &Value, root: &str) -> Result<Self> {
        let manifest = Path::new(text(package, "manifest_path")?);
        let folder = manifest.parent().unwrap_or(manifest);
        let folder = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().replace('\\', "/");
        let dependencies = array(package, "dependencies")?.iter().map(Dependency::parse).collect::<Result<_>>()?;
        let kinds = array(package, "targets")?.iter().filter_map(|target| target.get("kind")?.as_array()).flatten();
        let has_library = kinds.clone().any(|kind| kind == "lib" || kind == "proc-macro");
        // The list of registries that it may be published in, and `null` if it may be published in any.
        let is_published = package.get("publish").is_some_and(Value::is_null);
        let text = |key| text(package, key).map(str::to_owned);
        let (name, version, rust_version) = (text("name")?, text("version")?, text("rust_version")?);
        Ok(Self { name, folder, has_library, version, rust_version, is_published, dependencies })
    }
}

impl Dependency {
    fn parse(dependency: &Value) -> Result<Self> {
        let kind = match dependency.get("kind").and_then(Value::as_str) {
            None => Kind::Normal,
            Some("build") => Kind::Build,
            Some("dev") => Kind::Dev,
            Some(other) => anyhow::bail!("cargo metadata names an unknown kind of dependency: {other}"),
        };
        Ok(Self { name: text(dependency, "name")?.into(), kind })
    }
}

fn text<'a>(json: &'a Value, key: &str) -> Result<&'a str> {
    json.get(key).and_then(Value::as_str).with_context(|| format!("cargo metadata has no text `{key}`"))
}

fn array<'a>(json: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    json.get(key).and_then(Value::as_array).with_context(|| format!("cargo metadata has no list `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_becomes_packages_with_kinds() {
        let workspace = Workspace::parse(
            r#"{"workspace_root": "/w", "target_directory": "/t", "packages": [{
                "name": "kalends-mail", "manifest_path": "/w/crates/mail/Cargo.toml", "targets": [{"kind": ["lib"]}],
                "version": "0.1.0", "rust_version": "1.95", "publish": [],
                "dependencies": [{"name": "lettre", "kind": null}, {"name": "tempfile", "kind": "dev"}]}]}"#,
        )
        .unwrap();
        let mail = workspace.package("kalends-mail").unwrap();
        assert_eq!(mail.folder, "crates/mail");
        assert!(mail.has_library && !mail.is_published);
        assert_eq!(mail.dependencies[0], Dependency { name: "lettre".into(), kind: Kind::Normal });
        assert_eq!(mail.dependencies[1].kind, Kind::Dev);
        assert_eq!(workspace.target, Path::new("/t"));
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = Workspace::parse(r#"{"workspace_root": "/w"}"#).unwrap_err().to_string();
        assert_eq!(error, "cargo metadata has no list `packages`");
    }
}
