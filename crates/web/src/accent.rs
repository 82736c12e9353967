//! The style of a page with a colour of its own.

use kalends_bookings::Colour;
use kalends_kernel::base64url;
use sha2::{Digest as _, Sha256};

/// The background of the pages in light and in dark, as `colours.css` has it.
const CARDS: [Colour; 2] = [Colour([0xff, 0xfe, 0xfb]), Colour([0x1b, 0x21, 0x1f])];
/// How much of the colour is in the background of free days, in percent.
const TINT: u8 = 8;

/// The style sheet that replaces the colours of the pages. Buttons get the colour. Links get it where it can be read, and
/// otherwise the colour of the text.
pub(crate) fn style(accent: Colour) -> String {
    let [light, dark] = CARDS.map(|card| of_scheme(accent, card));
    format!(":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}")
}

fn of_scheme(accent: Colour, card: Colour) -> String {
    let tint = accent.mixed_into(card, TINT);
    let link = if accent.reads_on(card) && accent.reads_on(tint) { accent.to_string() } else { "var(--text)".into() };
    let edge = if accent.shows_on(card) { "transparent" } else { "var(--edge)" };
    format!("--fill:{accent};--on-fill:{};--fill-edge:{edge};--accent:{link};--tint:{tint}", accent.ink())
}

/// The source by which a `Content-Security-Policy` allows that style sheet (CSP level 3, section 2.3.1).
pub(crate) fn source(accent: Colour) -> String {
    let digest = base64url(&Sha256::digest(style(accent)));
    format!("'sha256-{}='", digest.replace('-', "+").replace('_', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::COLOURS;

    #[test]
    fn backgrounds_are_those_of_the_style_sheet() {
        for card in CARDS {
            assert!(COLOURS.contains(&format!("--card: {card};")), "{card}");
        }
    }

    #[test]
    fn links_have_the_colour_where_it_can_be_read() {
        let parts = |text: &str| {
            let style = style(Colour::parse("accent_color", text).unwrap());
            let (light, dark) = style.split_once("@media").unwrap();
            [light.to_owned(), dark.to_owned()]
        };
        let [light, dark] = parts("#102a6b");
        assert!(light.contains("--on-fill:#ffffff;--fill-edge:transparent;--accent:#102a6b;"), "{light}");
        assert!(dark.contains("--on-fill:#ffffff;--fill-edge:var(--edge);--accent:var(--text);"), "{dark}");
        let [light, dark] = parts("#ffd400");
        assert!(light.contains("--on-fill:#000000;--fill-edge:var(--edge);--accent:var(--text);"), "{light}");
        assert!(dark.contains("--on-fill:#000000;--fill-edge:transparent;--accent:#ffd400;"), "{dark}");
    }

    #[test]
    fn the_source_is_the_hash_of_the_style() {
        // Computed with another program from the text of the style sheet.
        assert_eq!(source(Colour::BLACK), "'sha256-J2TD2OWpyQPmyOohlqmrXarRPfPvtt6XpzbsS3AKwaQ='");
    }
}
