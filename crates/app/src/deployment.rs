//! What a process knows about itself, for the operator's pages.

use kalends_time::Timestamp;

/// What a process knows about itself. It contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The version of the program.
    pub version: &'static str,
    /// The name of the database, such as `SQLite`.
    pub database: &'static str,
    /// The number of the newest migration of the program, which the database has when the process serves.
    pub schema: i64,
    /// When the process started.
    pub started_at: Timestamp,
    /// Whether mail is only written to files, so that none leaves the server.
    pub keeps_mail: bool,
    /// Every setting.
    pub settings: Vec<ListedSetting>,
}

/// A setting, as the operator may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSetting {
    /// The name in the environment.
    pub name: &'static str,
    /// The value in force, in which secrets are replaced; or what it means that there is none, in brackets.
    pub value: String,
    /// Where the value comes from, such as `environment`.
    pub source: String,
}

impl Default for Deployment {
    /// A process about which nothing is known, such as that of a test.
    fn default() -> Self {
        let (started_at, settings) = (Timestamp::EPOCH, Vec::new());
        Self { version: "", database: "", schema: 0, started_at, keeps_mail: true, settings }
    }
}
