//! The files that pages refer to. Their names change with their content.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::calendar::style::sheet;

/// The path prefix of the files. It cannot collide with a slug: slugs are longer, and random.
pub const PREFIX: &str = "/book/assets/";

/// The colours that all pages share, as the custom properties of a style sheet.
pub const COLOURS: &str = include_str!("../assets/colours.css");

/// The icon of every page, as SVG.
pub const ICON: &str = include_str!("../assets/booking.svg");

/// A file of the pages.
#[derive(Debug, Clone)]
pub struct Asset {
    /// The name below [`PREFIX`], with a hash of the content.
    pub name: String,
    /// The `Content-Type`.
    pub content_type: &'static str,
    /// The content.
    pub text: &'static str,
}

/// The style sheet of the calendar.
static CALENDAR: LazyLock<String> = LazyLock::new(sheet);

/// Every file.
pub static ALL: LazyLock<[Asset; 10]> = LazyLock::new(|| {
    [
        asset(
            "booking",
            "css",
            "text/css; charset=utf-8",
            concat!(include_str!("../assets/colours.css"), include_str!("../assets/booking.css")),
        ),
        asset("booking", "js", "text/javascript; charset=utf-8", include_str!("../assets/booking.js")),
        asset("booking", "svg", "image/svg+xml", ICON),
        asset("code", "js", "text/javascript; charset=utf-8", include_str!("../assets/code.js")),
        asset("zone", "js", "text/javascript; charset=utf-8", include_str!("../assets/zone.js")),
        asset("calendar", "css", "text/css; charset=utf-8", CALENDAR.as_str()),
        asset("calendar", "js", "text/javascript; charset=utf-8", include_str!("../assets/calendar.js")),
        asset("moves", "js", "text/javascript; charset=utf-8", include_str!("../assets/moves.js")),
        asset("preview", "js", "text/javascript; charset=utf-8", include_str!("../assets/preview.js")),
        asset("copy", "js", "text/javascript; charset=utf-8", include_str!("../assets/copy.js")),
    ]
});

/// The file of that name.
pub fn find(name: &str) -> Option<&'static Asset> {
    ALL.iter().find(|asset| asset.name == name)
}

impl Asset {
    /// The path of the file.
    pub fn path(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }
}

pub(crate) fn style_sheet() -> String {
    ALL[0].path()
}

pub(crate) fn script() -> String {
    ALL[1].path()
}

pub(crate) fn icon() -> String {
    ALL[2].path()
}

pub(crate) fn code_script() -> String {
    ALL[3].path()
}

pub(crate) fn zone_script() -> String {
    ALL[4].path()
}

pub(crate) fn calendar_style_sheet() -> String {
    ALL[5].path()
}

pub(crate) fn calendar_script() -> String {
    ALL[6].path()
}

pub(crate) fn moves_script() -> String {
    ALL[7].path()
}

pub(crate) fn preview_script() -> String {
    ALL[8].path()
}

pub(crate) fn copy_script() -> String {
    ALL[9].path()
}

fn asset(stem: &str, extension: &str, content_type: &'static str, text: &'static str) -> Asset {
    let hash: String = Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Asset { name: format!("{stem}-{hash}.{extension}"), content_type, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_changes_with_the_content() {
        let name = |text| asset("booking", "css", "text/css", text).name;
        assert_eq!(name("a"), "booking-ca978112ca1b.css");
        assert_ne!(name("a"), name("b"));
    }

    #[test]
    fn files_are_found_by_their_names() {
        for asset in ALL.iter() {
            assert_eq!(find(&asset.name).map(|found| found.text), Some(asset.text));
        }
        assert!(find("booking.css").is_none() && find("../Cargo.toml").is_none());
    }
}
