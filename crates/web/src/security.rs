//! The pages on which a user turns their second factor on and off. They are in English, like the console, and work
//! without scripts.

use askama::Template;
use qrcode::{Color, EcLevel, QrCode};

use crate::{english::in_english, field::Field};

/// The empty margin of a QR code, in modules (ISO/IEC 18004).
const MARGIN: usize = 4;

/// A form of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityForm {
    /// The password, to begin.
    Start,
    /// The first code.
    Confirm,
    /// A code, for new recovery codes.
    Renew,
    /// A code, to turn the second factor off.
    Remove,
}

impl SecurityForm {
    /// The name of its field. The names on one page differ.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Start => "password",
            Self::Confirm | Self::Renew => "code",
            Self::Remove => "last_code",
        }
    }
}

/// What is wrong with the entry in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongEntry<'a> {
    /// The form.
    pub form: SecurityForm,
    /// What is wrong.
    pub problem: &'a str,
}

/// What the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityState<'a> {
    /// The second factor is off.
    Off,
    /// The secret was made, and waits for the first code.
    Begun {
        /// The secret, in base32.
        secret: &'a str,
        /// The address that an app reads from the picture.
        url: &'a str,
    },
    /// The second factor is on.
    On {
        /// How many recovery codes are left.
        recovery_codes: usize,
    },
    /// The new recovery codes, which are shown once.
    Codes {
        /// The codes.
        codes: &'a [String],
    },
}

/// The page of the second factor.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "security.html")]
pub struct Security<'a> {
    /// What it shows.
    pub state: SecurityState<'a>,
    /// What is wrong with the form that was sent.
    pub wrong: Option<WrongEntry<'a>>,
    /// The random key of the forms that show codes. If such a form is sent twice, it shows the same codes.
    pub once: &'a str,
}

/// A QR code as the path of a picture.
struct Picture {
    /// The width and the height, in modules.
    size: usize,
    /// The dark modules.
    path: String,
}

impl Security<'_> {
    const fn title(&self) -> &'static str {
        match self.state {
            SecurityState::Off | SecurityState::On { .. } => "Second factor",
            SecurityState::Begun { .. } => "Set up your authenticator app",
            SecurityState::Codes { .. } => "Your recovery codes",
        }
    }

    const fn is_off(&self) -> bool {
        matches!(self.state, SecurityState::Off)
    }

    const fn is_begun(&self) -> bool {
        matches!(self.state, SecurityState::Begun { .. })
    }

    const fn codes_left(&self) -> Option<usize> {
        match self.state {
            SecurityState::On { recovery_codes } => Some(recovery_codes),
            _ => None,
        }
    }

    const fn new_codes(&self) -> Option<&[String]> {
        match self.state {
            SecurityState::Codes { codes } => Some(codes),
            _ => None,
        }
    }

    fn shows(&self, form: SecurityForm) -> bool {
        match self.state {
            SecurityState::Off => form == SecurityForm::Start,
            SecurityState::Begun { .. } => form == SecurityForm::Confirm,
            SecurityState::On { .. } => matches!(form, SecurityForm::Renew | SecurityForm::Remove),
            SecurityState::Codes { .. } => false,
        }
    }

    /// What is wrong with a form that the page no longer shows.
    fn problem(&self) -> Option<&str> {
        self.wrong.filter(|wrong| !self.shows(wrong.form)).map(|wrong| wrong.problem)
    }

    fn problem_of(&self, form: SecurityForm) -> Option<&str> {
        self.wrong.filter(|wrong| wrong.form == form).map(|wrong| wrong.problem)
    }

    fn password(&self) -> Field<'_> {
        let problem = self.problem_of(SecurityForm::Start);
        let password = Field::new_password("Your password", problem);
        Field { autocomplete: "current-password", focus: problem.is_some(), ..password }
    }

    fn code_of(&self, form: SecurityForm, label: &'static str) -> Field<'_> {
        Field::factor_code(form.field(), label, self.problem_of(form))
    }

    fn first_code(&self) -> Field<'_> {
        self.code_of(SecurityForm::Confirm, "Code that the app shows")
    }

    fn renewal(&self) -> Field<'_> {
        self.code_of(SecurityForm::Renew, "Code, or a recovery code")
    }

    fn removal(&self) -> Field<'_> {
        self.code_of(SecurityForm::Remove, "Code, or a recovery code")
    }

    /// The secret in groups of four characters, which are easier to type.
    fn grouped(&self) -> String {
        let SecurityState::Begun { secret, .. } = self.state else { return String::new() };
        let letters: Vec<char> = secret.chars().collect();
        letters.chunks(4).map(String::from_iter).collect::<Vec<_>>().join(" ")
    }

    /// The QR code of the address; `None` if the address is too long for one.
    fn picture(&self) -> Option<Picture> {
        let SecurityState::Begun { url, .. } = self.state else { return None };
        let code = QrCode::with_error_correction_level(url, EcLevel::M).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (row, line) in code.to_colors().chunks(width).enumerate() {
            let (mut column, y) = (MARGIN, row + MARGIN);
            for run in line.chunk_by(|one, next| one == next) {
                let length = run.len();
                if run.first() == Some(&Color::Dark) {
                    path.push_str(&format!("M{column} {y}h{length}v1h-{length}z"));
                }
                column += length;
            }
        }
        Some(Picture { size: width + 2 * MARGIN, path })
    }
}

in_english!(Security<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    /// The dark modules of a picture, as rows of a text.
    fn drawn(picture: &Picture) -> Vec<String> {
        let mut rows = vec![vec![' '; picture.size]; picture.size];
        for run in picture.path.split('M').skip(1) {
            let (x, rest) = run.split_once(' ').unwrap();
            let (y, rest) = rest.split_once('h').unwrap();
            let (length, _) = rest.split_once('v').unwrap();
            let (x, y, length): (usize, usize, usize) =
                (x.parse().unwrap(), y.parse().unwrap(), length.parse().unwrap());
            rows[y][x..x + length].fill('#');
        }
        rows.into_iter().map(String::from_iter).collect()
    }

    #[test]
    fn the_picture_is_the_qr_code_with_a_margin() {
        let url = "otpauth://totp/Kalends:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kalends";
        let security = Security { state: SecurityState::Begun { secret: "GEZDGNBVGY", url }, wrong: None, once: "key" };
        let rows = drawn(&security.picture().unwrap());
        let code = QrCode::with_error_correction_level(url, EcLevel::M).unwrap();
        let expected =
            code.render::<char>().dark_color('#').light_color(' ').quiet_zone(true).module_dimensions(1, 1).build();
        assert_eq!(rows.join("\n"), expected);
        assert_eq!(security.grouped(), "GEZD GNBV GY");
    }

    #[test]
    fn a_problem_of_a_form_that_is_gone_is_still_said() {
        let wrong = |form| Some(WrongEntry { form, problem: "It took too long." });
        for (state, form, beside) in [
            (SecurityState::Off, SecurityForm::Start, true),
            (SecurityState::Off, SecurityForm::Confirm, false),
            (SecurityState::On { recovery_codes: 9 }, SecurityForm::Remove, true),
            (SecurityState::On { recovery_codes: 9 }, SecurityForm::Start, false),
        ] {
            let html = Security { state, wrong: wrong(form), once: "key" }.html();
            assert_eq!(html.matches("It took too long.").count(), 1, "{html}");
            assert_eq!(html.contains(&format!("id=\"{}-problem\"", form.field())), beside, "{html}");
        }
    }
}
