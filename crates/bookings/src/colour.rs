//! The colour of a page, and what can be read on it.

use std::fmt;

use kalends_kernel::FieldError;

/// The lowest contrast of text to its background (WCAG 2.2, success criterion 1.4.3).
const READABLE: f64 = 4.5;
/// The lowest contrast of the edge of a control to what is around it (success criterion 1.4.11).
const VISIBLE: f64 = 3.0;

/// A colour in sRGB, written as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self([0; 3]);
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// Reads `#rrggbb`, in upper or lower case.
    ///
    /// # Errors
    /// Names the field.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, red, green, blue] =
            number.ok_or_else(|| FieldError::new(param, "must be a color as #rrggbb, such as #0f6457"))?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }

    /// Black or white: what can be read better on this colour.
    pub fn ink(self) -> Self {
        if self.contrast(Self::BLACK) >= self.contrast(Self::WHITE) { Self::BLACK } else { Self::WHITE }
    }

    /// Whether text in this colour can be read on `background`.
    pub fn reads_on(self, background: Self) -> bool {
        self.contrast(background) >= READABLE
    }

    /// Whether a control in this colour can be seen on `background`.
    pub fn shows_on(self, background: Self) -> bool {
        self.contrast(background) >= VISIBLE
    }

    /// This colour, of which `percent` is mixed into `background`.
    #[must_use]
    pub fn mixed_into(self, background: Self, percent: u8) -> Self {
        let share = u16::from(percent.min(100));
        let mut mixed = self.0;
        for (own, other) in mixed.iter_mut().zip(background.0) {
            let sum = u16::from(*own) * share + u16::from(other) * (100 - share);
            // A mean of two bytes is a byte.
            *own = u8::try_from(sum / 100).unwrap_or(u8::MAX);
        }
        Self(mixed)
    }

    /// The contrast ratio of two colours, from 1 to 21 (WCAG 2.2).
    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// The relative luminance, from 0 for black to 1 for white (WCAG 2.2).
    fn luminance(self) -> f64 {
        let linear = |value: u8| {
            let share = f64::from(value) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn colour(text: &str) -> Colour {
        Colour::parse("accent_color", text).unwrap()
    }

    #[rstest]
    #[case("")]
    #[case("0f6457")]
    #[case("#0f645")]
    #[case("#0f64577")]
    #[case("#0f645g")]
    #[case("#+f6457")]
    #[case("#0f6é7")]
    #[case("red")]
    #[case("#fff;}body{")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert_eq!(Colour::parse("accent_color", text).unwrap_err().param, "accent_color");
    }

    #[rstest]
    #[case::white("#ffffff", Colour::BLACK, false, true)]
    #[case::black("#000000", Colour::WHITE, true, false)]
    #[case::yellow("#FFD400", Colour::BLACK, false, true)]
    #[case::navy("#102a6b", Colour::WHITE, true, false)]
    // The first grey that can be read on white.
    #[case::grey("#767676", Colour::BLACK, true, true)]
    #[case::a_lighter_grey("#777777", Colour::BLACK, false, true)]
    fn ink_and_links_can_be_read(
        #[case] text: &str,
        #[case] ink: Colour,
        #[case] on_white: bool,
        #[case] on_black: bool,
    ) {
        let colour = colour(text);
        assert_eq!(colour.ink(), ink);
        assert_eq!((colour.reads_on(Colour::WHITE), colour.reads_on(Colour::BLACK)), (on_white, on_black));
        assert_eq!(colour.to_string(), text.to_lowercase());
    }

    #[test]
    fn mixing_goes_from_the_background_to_the_colour() {
        let (red, card) = (colour("#ff0000"), colour("#fffefb"));
        assert_eq!(red.mixed_into(card, 0), card);
        assert_eq!(red.mixed_into(card, 100), red);
        assert_eq!(red.mixed_into(card, 50).to_string(), "#ff7f7d");
    }

    proptest! {
        /// Text in the ink of a colour can be read on that colour, whichever it is.
        #[test]
        fn ink_always_reads(bytes in any::<[u8; 3]>()) {
            let colour = Colour(bytes);
            prop_assert!(colour.ink().reads_on(colour));
            prop_assert_eq!(Colour::parse("a", &colour.to_string()), Ok(colour));
        }
    }
}
