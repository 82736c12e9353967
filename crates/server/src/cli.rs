//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use kalends_kernel::OrgId;
use kalends_plans::Plan;
use serde_json::Value;

use crate::config::keys;

/// A calendar backend for agents and the people they work for.
#[derive(Debug, Parser)]
#[command(
    name = "kalends",
    version,
    after_help = "Without a command, kalends serves. `kalends config --help` explains every setting."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server until SIGTERM or SIGINT (the default).
    Serve(Serve),
    /// Apply the missing database migrations.
    Migrate,
    /// List every setting with its value and its source, without secrets.
    #[command(after_long_help = keys::help())]
    Config,
    /// Print the OpenAPI description as JSON.
    Openapi,
    /// Create and manage organizations. A server may be running.
    #[command(subcommand)]
    Org(OrgCommand),
    /// Help users of the console where mail does not work. A server may be running.
    #[command(subcommand)]
    User(UserCommand),
    /// Keep track of backups, which other programs make. A server may be running.
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Manage the keys that encrypt stored fields. A server may be running.
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// Which part of the work this process does: all of it without a flag. On SQLite one process does all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Args)]
pub(crate) struct Serve {
    /// Only do scheduled work (expiries, reminders, webhooks, purges, ...) and answer /health and /ready. Postgres
    /// only.
    #[arg(long, conflicts_with = "no_workers")]
    pub(crate) workers_only: bool,
    /// Only answer requests. At least one other process must do the scheduled work. Postgres only.
    #[arg(long)]
    pub(crate) no_workers: bool,
}

impl Serve {
    /// The flag that limits the work, if one was given.
    pub(crate) const fn part(self) -> Option<&'static str> {
        match self {
            Self { workers_only: true, .. } => Some("--workers-only"),
            Self { no_workers: true, .. } => Some("--no-workers"),
            Self { workers_only: false, no_workers: false } => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Create an organization; prints {"org_id","api_key"}. The key is shown only once.
    Create(CreateOrg),
    /// Change the plan of an organization; prints the organization.
    SetPlan {
        /// The organization, such as org_01k...
        org: OrgId,
        /// The plan.
        plan: PlanArgument,
        /// Limits that override the plan's, such as {"agents": 10, "events": null}. null means unlimited.
        #[arg(long, value_name = "JSON", value_parser = json)]
        limits: Option<Value>,
    },
    /// Print every organization, oldest first, one line of JSON each.
    List,
    /// Put an organization on the waiting list; prints the organization.
    Waitlist {
        /// The organization.
        org: OrgId,
    },
    /// Take an organization off the waiting list; prints the organization.
    Activate {
        /// The organization.
        org: OrgId,
    },
    /// Replace the keys of an organization, but not those of its agents; prints {"org_id","api_key"}. The key is shown
    /// only once. Servers accept the old ones for one more second.
    NewKey {
        /// The organization.
        org: OrgId,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Mark the address of a user as proved; prints {"user_id","email","email_verified_at"}.
    Verify {
        /// The user's email address.
        email: String,
    },
    /// Make a link that sets a user's password once within an hour; prints {"user_id","email","url","expires_at"}.
    ResetPassword {
        /// The user's email address.
        email: String,
    },
    /// Remove the second factor of a user who has lost their authenticator app and their recovery codes; prints
    /// {"user_id","email"}.
    RemoveSecondFactor {
        /// The user's email address.
        email: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateOrg {
    /// The name, 1-255 characters.
    #[arg(long)]
    pub(crate) name: String,
    /// The owner's email address. A user who signs up with it can claim the organization.
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// The plan. If omitted, the plan is `custom`, and only the limits of --limits apply.
    #[arg(long)]
    pub(crate) plan: Option<PlanArgument>,
    /// Limits that override the plan's, such as {"agents": 10, "events": null}. null means unlimited.
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) limits: Option<Value>,
    /// Mark the organization's keys as test keys.
    #[arg(long)]
    pub(crate) test: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum BackupCommand {
    /// Record that a backup was made now, for the operator's pages; prints {"made_at"}.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum KeysCommand {
    /// Replace the master key and everything that depends on it. Servers keep running.
    RotateMaster,
}

/// The plans that an operator can give an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanArgument {
    Free,
    Pro,
    Custom,
}

impl From<PlanArgument> for Plan {
    fn from(plan: PlanArgument) -> Self {
        match plan {
            PlanArgument::Free => Self::Free,
            PlanArgument::Pro => Self::Pro,
            PlanArgument::Custom => Self::Custom,
        }
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("must be JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;

    fn parse(line: &str) -> Result<Option<Command>, clap::Error> {
        Cli::try_parse_from(std::iter::once("kalends").chain(line.split_whitespace())).map(|cli| cli.command)
    }

    #[test]
    fn clap_accepts_the_definition() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serving_is_the_default() {
        assert!(parse("").unwrap().is_none());
        assert!(matches!(parse("serve").unwrap(), Some(Command::Serve(all)) if all.part().is_none()));
    }

    #[rstest]
    #[case("serve --workers-only", "--workers-only")]
    #[case("serve --no-workers", "--no-workers")]
    fn a_flag_limits_the_work_of_the_process(#[case] line: &str, #[case] part: &str) {
        assert!(matches!(parse(line).unwrap(), Some(Command::Serve(serve)) if serve.part() == Some(part)));
    }

    #[test]
    fn org_create_reads_its_arguments() {
        let parsed = parse(r#"org create --name Acme --plan custom --limits {"agents":7,"events":null} --test"#);
        let Some(Command::Org(OrgCommand::Create(create))) = parsed.unwrap() else { panic!("not org create") };
        assert_eq!((create.name.as_str(), create.plan, create.test), ("Acme", Some(PlanArgument::Custom), true));
        assert_eq!(create.limits, Some(serde_json::json!({ "agents": 7, "events": null })));
        assert_eq!(create.email, None);
    }

    #[test]
    fn org_set_plan_reads_its_arguments() {
        let org = OrgId::from_uuid(Default::default());
        let parsed = parse(&format!("org set-plan {org} pro")).unwrap();
        assert!(
            matches!(parsed, Some(Command::Org(OrgCommand::SetPlan { org: of, plan: PlanArgument::Pro, limits: None })) if of == org)
        );
    }

    #[test]
    fn the_other_commands_parse() {
        let org = OrgId::from_uuid(Default::default());
        for line in [
            "migrate",
            "config",
            "openapi",
            "org list",
            "backup done",
            "keys rotate-master",
            "user verify ada@example.com",
            "user reset-password ada@example.com",
            "user remove-second-factor ada@example.com",
        ] {
            assert!(parse(line).is_ok(), "{line}");
        }
        for command in ["waitlist", "activate", "new-key"] {
            assert!(parse(&format!("org {command} {org}")).is_ok(), "{command}");
        }
    }

    #[rstest]
    #[case("org create")]
    #[case("org create --name A --plan free-agent")]
    #[case("org create --name A --limits {")]
    #[case("org set-plan cal_01h2xcejqtf2nbrexx3vqjhp41 pro")]
    #[case("org set-plan org_1 pro")]
    #[case("org new-key")]
    #[case("user verify")]
    #[case("backup")]
    #[case("serve --workers-only --no-workers")]
    #[case("--workers-only")]
    #[case("frobnicate")]
    fn wrong_command_lines_exit_with_2(#[case] line: &str) {
        assert_eq!(parse(line).unwrap_err().exit_code(), 2);
    }
}
