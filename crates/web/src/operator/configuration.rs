//! The settings of the server.

use askama::Template;

use super::frame::OperatorShell;
use crate::english::in_english;

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorSetting<'a> {
    /// The name in the environment.
    pub name: &'a str,
    /// The value, without secrets.
    pub value: &'a str,
    /// Where the value comes from.
    pub source: &'a str,
}

impl OperatorSetting<'_> {
    fn is_default(&self) -> bool {
        self.source == "default"
    }
}

/// Every setting with its value and its source.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_configuration.html")]
pub struct OperatorConfiguration<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// Every setting.
    pub settings: &'a [OperatorSetting<'a>],
}

impl<'a> OperatorConfiguration<'a> {
    /// The settings that are set, or those that have their defaults.
    fn with_default(&self, default: bool) -> Vec<OperatorSetting<'a>> {
        self.settings.iter().copied().filter(|setting| setting.is_default() == default).collect()
    }
}

in_english!(OperatorConfiguration<'_>);
