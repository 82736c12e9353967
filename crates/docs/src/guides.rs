//! The guides: the Markdown files of the repository, in the order of the site.

/// The folder of the decisions. Lists of pages contain one link for all of them.
pub(crate) const DECISIONS: &str = "contribute/decisions";

/// A part of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Use,
    Run,
    Embed,
    Contribute,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [Self::Use, Self::Run, Self::Embed, Self::Contribute];

    /// The first segment of the paths of its pages.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Run => "run",
            Self::Embed => "embed",
            Self::Contribute => "contribute",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Use => "Use",
            Self::Run => "Run",
            Self::Embed => "Embed",
            Self::Contribute => "Contribute",
        }
    }

    /// What the part is for, in one sentence.
    pub(crate) const fn purpose(self) -> &'static str {
        match self {
            Self::Use => "For people who write agents and programs that call the API.",
            Self::Run => "For people who operate a server.",
            Self::Embed => "For people who want the scheduling rules in a service of their own.",
            Self::Contribute => "For people who change the code.",
        }
    }
}

/// A Markdown file of the repository that is a page of the site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) part: Part,
    /// The path of the page below the root of the site.
    pub(crate) page: &'static str,
    /// The path of the file in the repository.
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! guides {
    ($($part:ident $page:literal $file:literal;)*) => {
        /// Every guide, part by part, in the order of the site.
        pub(crate) static ALL: &[Source] = &[$(Source {
            part: Part::$part,
            page: $page,
            file: $file,
            text: include_str!(concat!("../../../", $file)),
        }),*];
    };
}

guides! {
    Use "use/quickstart" "docs/use/quickstart.md";
    Use "use/requests" "docs/use/requests.md";
    Use "use/errors" "docs/use/errors.md";
    Use "use/agents" "docs/use/agents.md";
    Use "use/calendars" "docs/use/calendars.md";
    Use "use/events" "docs/use/events.md";
    Use "use/attendees" "docs/use/attendees.md";
    Use "use/recurrence" "docs/use/recurrence.md";
    Use "use/availability" "docs/use/availability.md";
    Use "use/holds" "docs/use/holds.md";
    Use "use/proposals" "docs/use/proposals.md";
    Use "use/runs" "docs/use/runs.md";
    Use "use/approvals" "docs/use/approvals.md";
    Use "use/booking" "docs/use/booking.md";
    Use "use/webhooks" "docs/use/webhooks.md";
    Use "use/changes" "docs/use/changes.md";
    Use "use/change-feed" "docs/use/change-feed.md";
    Use "use/ical" "docs/use/ical.md";
    Use "use/console" "docs/use/console.md";
    Use "use/human-calendars" "docs/use/human-calendars.md";
    Use "use/tools" "docs/use/tools.md";
    Use "use/connectors" "docs/use/connectors.md";
    Use "use/keys" "docs/use/keys.md";
    Use "use/limits" "docs/use/limits.md";
    Use "use/client" "docs/use/client.md";
    Use "use/clients" "docs/use/clients.md";
    Run "run/install" "docs/run/install.md";
    Run "run/configure" "docs/run/configure.md";
    Run "run/proxy" "docs/run/proxy.md";
    Run "run/postgres" "docs/run/postgres.md";
    Run "run/backup" "docs/run/backup.md";
    Run "run/upgrade" "docs/run/upgrade.md";
    Run "run/keys-at-rest" "docs/run/keys-at-rest.md";
    Run "run/monitoring" "docs/run/monitoring.md";
    Run "run/operator" "docs/run/operator.md";
    Run "run/troubleshooting" "docs/run/troubleshooting.md";
    Run "run/background" "docs/run/background.md";
    Run "run/accounts" "docs/run/accounts.md";
    Run "run/egress" "docs/run/egress.md";
    Embed "embed/embedding" "docs/embed/embedding.md";
    Contribute "contribute/contributing" "CONTRIBUTING.md";
    Contribute "contribute/architecture" "docs/contribute/architecture.md";
    Contribute "contribute/glossary" "docs/contribute/glossary.md";
    Contribute "contribute/properties" "docs/contribute/properties.md";
    Contribute "contribute/oauth-checklist" "docs/contribute/oauth-checklist.md";
    Contribute "contribute/performance" "docs/contribute/performance.md";
    Contribute "contribute/changelog" "CHANGELOG.md";
    Contribute "contribute/decisions/0001" "docs/contribute/decisions/0001-decide-then-commit.md";
    Contribute "contribute/decisions/0002" "docs/contribute/decisions/0002-instants-as-microseconds.md";
    Contribute "contribute/decisions/0003" "docs/contribute/decisions/0003-sealed-event-content.md";
    Contribute "contribute/decisions/0004" "docs/contribute/decisions/0004-group-commit.md";
    Contribute "contribute/decisions/0005" "docs/contribute/decisions/0005-one-refusal.md";
    Contribute "contribute/decisions/0006" "docs/contribute/decisions/0006-errors-become-responses-in-one-layer.md";
    Contribute "contribute/decisions/0007" "docs/contribute/decisions/0007-the-description-is-completed-from-the-table.md";
    Contribute "contribute/decisions/0008" "docs/contribute/decisions/0008-decommissioned-agents.md";
    Contribute "contribute/decisions/0009" "docs/contribute/decisions/0009-busy-days.md";
    Contribute "contribute/decisions/0010" "docs/contribute/decisions/0010-warm-connections.md";
    Contribute "contribute/decisions/0011" "docs/contribute/decisions/0011-guarded-times.md";
    Contribute "contribute/decisions/0012" "docs/contribute/decisions/0012-oracles-from-other-crates.md";
    Contribute "contribute/decisions/0013" "docs/contribute/decisions/0013-spans-by-opentelemetry.md";
    Contribute "contribute/decisions/0014" "docs/contribute/decisions/0014-publishing-by-comparison.md";
    Contribute "contribute/decisions/0015" "docs/contribute/decisions/0015-caldav-by-our-own-expansion-and-tags.md";
}
