//! A person who walks through the console in a real browser: at a desk with a mouse or by the keyboard alone, or with a
//! phone, with scripts or without.

use kalends_e2e::{
    Browser,
    Database::{self, Postgres, Sqlite},
    Key, Server, Visitor,
};
use serde_json::json;

use crate::{
    booking_browser::{PHONE, fits},
    calendar_desk::Desk,
    connecting::HUMAN,
    console::PASSWORD,
};

/// More options than any select or group of radio buttons has.
const OPTIONS_MAX: usize = 700;
/// Marks the element that a walk looks for by its text.
const MARKED: &str = "[data-walked]";

/// How a person walks through a screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) database: Database,
    scripts: bool,
    phone: bool,
    /// The person uses no mouse and no finger.
    by_keyboard: bool,
}

impl Way {
    /// At a desk of 1,280 px, with scripts, by the keyboard alone.
    pub(crate) const KEYS: Self = Self { database: Sqlite, scripts: true, phone: false, by_keyboard: true };
    /// At a desk of 1,280 px, with scripts, with a mouse.
    pub(crate) const MOUSE: Self = Self { database: Postgres, scripts: true, phone: false, by_keyboard: false };
    /// With a phone of 390 px, without scripts.
    pub(crate) const PLAIN: Self = Self { database: Postgres, scripts: false, phone: true, by_keyboard: false };
    /// At a desk of 1,280 px, without scripts, by the keyboard alone.
    pub(crate) const PLAIN_KEYS: Self = Self { database: Sqlite, scripts: false, phone: false, by_keyboard: true };
    /// With a phone of 390 px, with scripts.
    pub(crate) const PHONE: Self = Self { database: Postgres, scripts: true, phone: true, by_keyboard: false };

    fn visitor(self) -> Visitor {
        let visitor = Visitor::new();
        let visitor = if self.phone { visitor.phone(PHONE.0, PHONE.1) } else { visitor };
        if self.scripts { visitor } else { visitor.without_scripts() }
    }
}

/// Signs a user in by the form on the page with this heading, with a mouse.
pub(crate) async fn sign_in(browser: &Browser, heading: &str, email: &str) {
    browser.headed(heading).await;
    browser.fill("#email", email).await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form button.primary").await;
}

/// A browser, and how a person uses it.
pub(crate) struct Walk {
    pub(crate) browser: Browser,
    way: Way,
    base: String,
}

impl Walk {
    /// Signs the owner in by the form.
    pub(crate) async fn begin(it: &Desk, way: Way) -> Self {
        let walk = Self::open(&it.server, way).await;
        walk.sign_in(HUMAN).await;
        walk
    }

    /// Opens a browser, without signing anybody in.
    pub(crate) async fn open(server: &Server, way: Way) -> Self {
        Self { browser: way.visitor().open().await, way, base: server.base_url().to_owned() }
    }

    /// Signs a user in by the form.
    pub(crate) async fn sign_in(&self, email: &str) {
        self.send_password(email, PASSWORD).await;
        self.browser.find("nav[aria-label='Console']").await;
    }

    /// Sends the form that asks for a password.
    pub(crate) async fn send_password(&self, email: &str, password: &str) {
        self.goto("/console/sign-in").await;
        self.reaches("Sign in").await;
        self.fill("#email", email).await;
        self.fill("#password", password).await;
        self.press("Sign in").await;
    }

    /// Opens an address of the server.
    pub(crate) async fn goto(&self, path: &str) {
        self.browser.goto(&format!("{}{path}", self.base)).await;
    }

    /// Waits for a page with this heading. Nothing on it is wider than the window.
    pub(crate) async fn reaches(&self, heading: &str) {
        self.browser.headed(heading).await;
        self.fits().await;
    }

    /// Nothing on the page is wider than the window.
    pub(crate) async fn fits(&self) {
        fits(&self.browser).await;
    }

    /// Follows the link, or presses the button, that matches this CSS selector.
    pub(crate) async fn follow(&self, css: &str) {
        if !self.way.by_keyboard {
            return self.browser.click(css).await;
        }
        self.tab_to(css).await;
        self.browser.enter().await;
    }

    /// Presses the button, or follows the link, with this text. It waits until the page shows exactly one.
    pub(crate) async fn press(&self, text: &str) {
        self.browser.mark(text).await;
        self.follow(MARKED).await;
    }

    /// Does the same in what matches this CSS selector, such as one of several entries.
    pub(crate) async fn press_in(&self, css: &str, text: &str) {
        self.browser.mark_in(css, text).await;
        self.follow(MARKED).await;
    }

    /// Chooses a new file with this name and content in a field for files.
    pub(crate) async fn choose_file(&self, css: &str, name: &str, content: &str) {
        if self.way.by_keyboard {
            self.tab_to(css).await;
        }
        // No test can use the window in which the browser lets a person choose.
        self.browser.choose_file(css, name, content).await;
    }

    /// Presses Tab until the element that matches this CSS selector has the focus, unless the page gave it to the element.
    async fn tab_to(&self, css: &str) {
        self.browser.find(css).await;
        self.browser.loaded().await;
        if !self.browser.is_at(css).await {
            self.browser.tab_to(css).await;
        }
    }

    /// Types into a field, in place of what it contains. `text` may have several lines if the field does.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        if !self.way.by_keyboard {
            self.browser.clear(css).await;
            return self.browser.fill(css, text).await;
        }
        self.tab_to(css).await;
        self.browser.select_all().await;
        let enter = char::from(Key::Enter);
        self.browser.press(text.chars().map(|letter| if letter == '\n' { enter } else { letter })).await;
    }

    /// Types a date like 2031-05-04, a time like 09:30, or both with a `T` between them, into a field for them. The
    /// browser is American: it wants the month first, and hours of the morning or the afternoon.
    pub(crate) async fn fill_time(&self, css: &str, at: &str) {
        if self.way.by_keyboard {
            self.tab_to(css).await;
        } else {
            self.browser.focus(css).await;
        }
        let (date, time) = match at.split_once('T') {
            Some((date, time)) => (date, time),
            None if at.contains(':') => ("", at),
            None => (at, ""),
        };
        if let Some((year, day)) = date.split_once('-') {
            self.browser.press(day.chars().chain(year.chars()).filter(char::is_ascii_digit)).await;
        }
        if !date.is_empty() && !time.is_empty() {
            // The year could have two more digits.
            self.browser.strike(&[Key::Right]).await;
        }
        if let Some((hour, minute)) = time.split_once(':') {
            let hour: u32 = hour.parse().unwrap();
            let (hour, half) = ((hour + 11) % 12 + 1, if hour < 12 { 'a' } else { 'p' });
            self.browser.press(format!("{hour:02}{minute}{half}").chars()).await;
        }
        assert_eq!(self.browser.property(css, "value").await, at, "what {css} contains");
    }

    /// Ticks or unticks a checkbox.
    pub(crate) async fn tick(&self, css: &str) {
        if !self.way.by_keyboard {
            return self.browser.click(css).await;
        }
        self.tab_to(css).await;
        self.browser.press([' ']).await;
    }

    /// Chooses one of the radio buttons with a name. `css` matches the button.
    pub(crate) async fn pick(&self, name: &str, css: &str) {
        if !self.way.by_keyboard {
            return self.browser.click(css).await;
        }
        // Tab reaches only the button of a group that is chosen. The arrows choose another one.
        self.tab_to(&format!("input[type='radio'][name='{name}']")).await;
        for _ in 0..OPTIONS_MAX {
            if self.browser.is_at(css).await {
                return self.browser.press([' ']).await;
            }
            self.browser.strike(&[Key::Down]).await;
        }
        panic!("the keys do not choose {css}");
    }

    /// Chooses an option of a select element by its value.
    pub(crate) async fn choose(&self, css: &str, value: &str) {
        if !self.way.by_keyboard {
            return self.browser.choose(css, value).await;
        }
        self.tab_to(css).await;
        self.browser.strike(&[Key::Home]).await;
        for _ in 0..OPTIONS_MAX {
            if self.browser.property(css, "value").await == value {
                return;
            }
            self.browser.strike(&[Key::Down]).await;
        }
        panic!("the keys do not choose {value} of {css}");
    }

    /// Opens a `details` element by its summary, if it is closed.
    pub(crate) async fn unfold(&self, css: &str) {
        let open = format!("return document.querySelector({}).open", json!(css));
        self.browser.find(css).await;
        if self.browser.run(&open).await == false {
            self.follow(&format!("{css} > summary")).await;
        }
    }

    /// The whole text of the page's main part.
    pub(crate) async fn text(&self) -> String {
        self.browser.text("main").await
    }

    /// Waits until the main part of the page shows this text.
    pub(crate) async fn sees(&self, text: &str) {
        self.browser.wait_for_text(text).await;
    }
}
