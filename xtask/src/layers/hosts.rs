//! No file in the repository contains a path of one machine or the host of a registry: the repository must build
//! anywhere.

use super::Violation;
use super::model::Model;

/// Absolute folders of one machine.
const FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Hosts that belong in the configuration of a package client, not in the repository.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("deb.debian", ".org"),
];

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in &model.files {
        for (index, line) in file.text.lines().enumerate() {
            let folders = FOLDERS.iter().filter(|folder| names_folder(line, folder));
            let hosts = HOSTS.iter().filter(|host| line.contains(**host));
            violations.extend(
                folders
                    .chain(hosts)
                    .map(|found| Violation::new(format!("{}:{}", file.path, index + 1), format!("names `{found}`"))),
            );
        }
    }
    violations
}

/// Whether the folder is at the beginning of a path, not inside a longer path or a URL.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|char| !(char.is_alphanumeric() || matches!(char, '/' | '.' | '-' | '_' | '}' | ')' | '*')))
    })
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        check(&fixture::files(&[("README.md", text)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let (home, work) = (FOLDERS[0], FOLDERS[1]);
        assert_eq!(problems(&format!("ok\nrun `{work}main`")), [format!("README.md:2: names `{work}`")]);
        assert_eq!(problems(&format!("{home}.cargo")).len(), 1);
        assert!(problems(&format!("https://example.com{work}feed.ics, ./a{home}b")).is_empty());
    }

    #[test]
    fn hosts_of_registries_are_found() {
        for host in HOSTS {
            assert_eq!(problems(&format!("see https://{host}/crate")).len(), 1, "{host}");
        }
    }
}
