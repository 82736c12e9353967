//! `cargo xtask`: the repository's own commands. Without arguments it lists them.

mod api;
mod artifacts;
mod bench;
mod ci;
mod clients;
mod db;
mod deny;
mod env;
mod full;
mod fuzz;
mod interop;
mod layers;
mod lint;
mod memory;
mod package;
mod packages;
mod postgres;
mod prepare;
mod process;
mod properties;
mod rule_peers;
mod set_peers;
mod soak;
mod steps;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

/// One command of `cargo xtask`.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "[-p PACKAGE] [NEXTEST ARGS]",
        about: "run every test, on a throwaway Postgres",
        run: test::run,
    },
    Command { name: "lint", arguments: "", about: "formatting, the layer check, clippy, cargo doc", run: lint::run },
    Command { name: "ci", arguments: "", about: "everything that a change must pass, tests last", run: ci::run },
    Command {
        name: "full",
        arguments: "",
        about: "what takes too long for every change: full campaigns, third-party tools, held ratios",
        run: full::run,
    },
    Command {
        name: "layers",
        arguments: "",
        about: "check the rules of docs/contribute/architecture.md",
        run: layers::run,
    },
    Command {
        name: "api",
        arguments: "[--renew]",
        about: "compare the public API of the published crates with its lists, or write the lists",
        run: api::run,
    },
    Command {
        name: "clients",
        arguments: "[--check]",
        about: "generate the clients in Python and TypeScript, or check that they are up to date",
        run: clients::run,
    },
    Command {
        name: "package",
        arguments: "",
        about: "package the published crates, and use the packages from another project",
        run: package::run,
    },
    Command {
        name: "prepare",
        arguments: "[sqlite|postgres] [--check]",
        about: "write (or check) the stores' .sqlx query data",
        run: prepare::run,
    },
    Command {
        name: "db",
        arguments: "[start|stop|url]",
        about: "a Postgres for development, kept in target/dev-postgres",
        run: db::run,
    },
    Command {
        name: "bench",
        arguments: "NAME [ARGS]",
        about: "run a benchmark; without a name, list them",
        run: bench::run,
    },
    Command {
        name: "soak",
        arguments: "[NAME] [--reduced]",
        about: "run a long campaign, or all of them",
        run: soak::run,
    },
    Command {
        name: "fuzz",
        arguments: "[TARGET] [--seconds N | --inputs N]",
        about: "fuzz parsers, rules, sets and the algebra of busy times, a minute each (nightly)",
        run: fuzz::run,
    },
    Command {
        name: "properties",
        arguments: "[--crate NAME] [--cases N] [--seed S]",
        about: "run every law, or write their list (--renew)",
        run: properties::run,
    },
    Command {
        name: "interop",
        arguments: "[NAME]",
        about: "check the server's output and input against third-party tools",
        run: interop::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next().filter(|name| !matches!(name.as_str(), "help" | "-h" | "--help")) else {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no command `{name}`; `cargo xtask` lists them");
        return ExitCode::FAILURE;
    };
    match (command.run)(&arguments.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<process::Reported>() {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = String::from("cargo xtask COMMAND\n\n");
    for Command { name, arguments, about, .. } in COMMANDS {
        text.push_str(&format!("  {:<36} {about}\n", format!("{name} {arguments}")));
    }
    text
}
