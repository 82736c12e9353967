//! Headless Chromium, driven as a person would use it.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource as _, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction, TouchActions},
    elements::Element,
    error::{CmdError, NewSessionError},
    wd::WebDriverCompatibleCommand,
};
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};
use url::Url;

use crate::under_test::variable;

pub use fantoccini::key::Key;

/// The driver of the browser. Debian's package is `chromium-driver`.
const DRIVER: &str = "chromedriver";
/// Chromium without what draws windows, of the package with the same name. It starts several times faster.
const BROWSER: &str = "chromium-headless-shell";
/// The visitor's language. It uses 24-hour clocks.
const LANGUAGE: &str = "en-GB";
/// The folder of downloaded files, in the home folder.
const DOWNLOADS: &str = "Downloads";
/// How the name of a file ends that is not downloaded completely.
const INCOMPLETE: &str = ".crdownload";
/// The folder of the files that the visitor chooses in forms, in the home folder.
const UPLOADS: &str = "Uploads";
/// Where a visitor looks for a link or a button: not in the navigation, which repeats texts of the page.
const PLACES: &str = "main, dialog, .foot";
/// The longest wait on a busy machine for the driver to start, or for a page to show something.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a driver is started that ends at once.
const STARTS: u32 = 5;
/// The time between two looks at a page.
const PERIOD: Duration = Duration::from_millis(20);
/// How long a pointer takes to a place.
const WAY: Duration = Duration::from_millis(50);
/// More elements than the keyboard can reach on any page.
const TABS_MAX: usize = 300;
/// Parts of the browser that no page needs. The driver switches off others by itself.
const UNNEEDED: [&str; 3] =
    ["--disable-component-extensions-with-background-pages", "--disable-component-update", "--disable-extensions"];
/// How long a finger rests on what it drags. Pages need less.
const LONG_PRESS: Duration = Duration::from_millis(900);

/// A visitor and their device.
#[derive(Debug, Clone)]
pub struct Visitor {
    width: u32,
    height: u32,
    touches: bool,
    scripts: bool,
    zone: String,
}

/// A window of its own browser, with an empty profile. Dropping this value closes the browser and removes the profile.
pub struct Browser {
    client: Client,
    // Dropped after the client: the profile's files can go only after the driver has closed the browser.
    driver: Driver,
}

/// The program that starts and drives the browser.
struct Driver {
    process: Child,
    port: u16,
    /// The folder of the profile, and of the files that the visitor downloads.
    home: TempDir,
}

impl Visitor {
    /// A visitor at a desk in Greenwich, with a browser's default settings.
    pub fn new() -> Self {
        Self { width: 1_280, height: 900, touches: false, scripts: true, zone: "UTC".to_owned() }
    }

    /// The same visitor with a window of this size, in pixels.
    #[must_use]
    pub fn window(self, width: u32, height: u32) -> Self {
        Self { width, height, ..self }
    }

    /// The same visitor with a phone of this size, in pixels.
    #[must_use]
    pub fn phone(self, width: u32, height: u32) -> Self {
        Self { width, height, touches: true, ..self }
    }

    /// The same visitor with JavaScript switched off.
    #[must_use]
    pub fn without_scripts(self) -> Self {
        Self { scripts: false, ..self }
    }

    /// The same visitor with the machine's clock in this zone.
    #[must_use]
    pub fn in_zone(self, zone: &str) -> Self {
        Self { zone: zone.to_owned(), ..self }
    }

    /// Opens a browser.
    ///
    /// On a busy machine, the browser sometimes exits while it starts. So it is started again.
    pub async fn open(&self) -> Browser {
        let mut failure = String::new();
        for _ in 0..STARTS {
            match self.open_once().await {
                Ok(browser) => return browser,
                Err(error) => failure = error.to_string(),
            }
        }
        panic!("no browser in {STARTS} attempts (Debian's package is {BROWSER}): {failure}")
    }

    async fn open_once(&self) -> Result<Browser, NewSessionError> {
        let driver = Driver::start(&self.zone).await;
        let Value::Object(capabilities) = self.capabilities() else { unreachable!("an object is written there") };
        let mut builder = ClientBuilder::rustls().expect("the machine's certificates");
        let client = builder.capabilities(capabilities).connect(&format!("http://127.0.0.1:{}", driver.port)).await?;
        let browser = Browser { client, driver };
        let downloads = browser.driver.home.path().join(DOWNLOADS);
        browser
            .devtools("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }))
            .await;
        if !self.scripts {
            browser.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        }
        Ok(browser)
    }

    fn capabilities(&self) -> Value {
        let window = format!("--window-size={},{}", self.width, self.height);
        let language = format!("--accept-lang={LANGUAGE}");
        // Tests run as root in containers, where the browser has no sandbox and little shared memory.
        let arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", &window, &language];
        let arguments = [&arguments[..], &UNNEEDED].concat();
        let mut options = json!({ "args": arguments, "binary": program() });
        if self.touches {
            // The driver never ends a touch on a page without scripts. It clicks there.
            let (width, height, touch) = (self.width, self.height, self.scripts);
            options["mobileEmulation"] = json!({
                "deviceMetrics": { "width": width, "height": height, "pixelRatio": 2.0, "touch": touch }
            });
        }
        json!({ "browserName": "chrome", "goog:chromeOptions": options })
    }
}

/// The path of the browser. The driver needs it, because it looks for a browser with windows.
fn program() -> PathBuf {
    let path = variable("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(BROWSER))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{BROWSER} is not on PATH (Debian's package has the same name)"))
}

/// A command of the browser's own protocol, which the driver passes on.
#[derive(Debug)]
struct Devtools {
    command: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for Devtools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "cmd": self.command, "params": self.parameters }).to_string()))
    }
}

impl Default for Visitor {
    fn default() -> Self {
        Self::new()
    }
}

impl Driver {
    /// Starts the driver in its own folder, on a port that it chooses.
    ///
    /// The driver takes any free port of IPv4, needs the same one of IPv6, and ends if another program has that. So it is
    /// started again with another port.
    async fn start(zone: &str) -> Self {
        let mut output = String::new();
        for _ in 0..STARTS {
            match Self::start_once(zone).await {
                Ok(driver) => return driver,
                Err(printed) => output = printed,
            }
        }
        panic!("{DRIVER} ended {STARTS} times before it listened: {output}")
    }

    /// Starts the driver. If it ends before it listens, returns what it printed.
    async fn start_once(zone: &str) -> Result<Self, String> {
        let home = tempfile::Builder::new().prefix("kalends-browser-").tempdir().expect("a temporary directory");
        let mut process = Command::new(DRIVER)
            .arg("--port=0")
            .env("TZ", zone)
            // Fields for dates follow the browser's own language, not the accepted ones. Every browser has this one.
            .env("LANG", "en_US.UTF-8")
            .env("LANGUAGE", "en_US")
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{DRIVER} does not start (Debian's package is chromium-driver): {error}"));
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let listening = async {
            let mut printed = String::new();
            while let Some(line) = lines.next_line().await.expect("a readable line") {
                if let Some((_, port)) = line.rsplit_once("started successfully on port ") {
                    return Ok(port.trim_end_matches('.').parse().expect("a port"));
                }
                printed += &line;
                printed.push('\n');
            }
            Err(printed)
        };
        let port = timeout(PATIENCE, listening).await.expect("the driver to listen")?;
        // Keep reading, so that the driver never blocks on a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { process, port, home })
    }

    /// Has the driver close its browser and end. The driver answers once the browser has gone.
    fn shut_down(&self) -> std::io::Result<()> {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        connection.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A driver that is only killed leaves its browser behind.
        let _ = self.shut_down();
        let _ = self.process.start_kill();
    }
}

impl Browser {
    async fn devtools(&self, command: &'static str, parameters: Value) {
        let sent = self.client.issue_cmd(Devtools { command, parameters }).await;
        sent.unwrap_or_else(|error| panic!("{command}: {error}"));
    }

    /// Goes to an address and waits until it is loaded.
    pub async fn goto(&self, url: &str) {
        self.client.goto(url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Waits until the page has its styles and everything else that it loads. A page has its elements before, and the
    /// driver sometimes returns that early.
    pub async fn loaded(&self) {
        // A script that waits for an event never ends in a browser without scripts.
        self.until_true("the page to load", "return document.readyState === 'complete'").await;
    }

    /// The address that is shown.
    pub async fn url(&self) -> String {
        self.client.current_url().await.expect("an address").into()
    }

    /// Waits until the address that is shown contains this text.
    pub async fn wait_for_address(&self, part: &str) {
        let script = format!("return location.href.includes({})", json!(part));
        self.until_true(&format!("an address with {part}"), &script).await;
    }

    /// Waits for an element that matches this CSS selector.
    pub async fn find(&self, css: &str) -> Element {
        self.wait_for(Locator::Css(css)).await
    }

    /// Waits for a frame and continues in it, until the next [`Self::goto`].
    pub async fn enter_frame(&self, css: &str) {
        self.find(css).await.enter_frame().await.unwrap_or_else(|error| panic!("frame {css}: {error}"));
    }

    /// Waits until a frame of the same origin contains this text. A script may replace the frame at any time.
    pub async fn wait_for_text_in_frame(&self, css: &str, text: &str) {
        let (frame, part) = (json!(css), json!(text));
        let script =
            format!("return document.querySelector({frame})?.contentDocument?.body?.textContent.includes({part})");
        self.until_true(&format!("{css} to contain {text}"), &script).await;
    }

    /// Whether the page has an element that matches this CSS selector now.
    pub async fn has(&self, css: &str) -> bool {
        !self.client.find_all(Locator::Css(css)).await.expect("a look at the page").is_empty()
    }

    /// Waits for a page with this heading.
    pub async fn headed(&self, heading: &str) {
        self.wait_for(Locator::XPath(&format!("//h1[normalize-space()={}]", quoted(heading)))).await;
    }

    /// Waits for an element and clicks on it.
    pub async fn click(&self, css: &str) {
        self.act_on(css, async |element| element.click().await).await;
    }

    /// Waits for an element and acts on it. A script may replace the element between the look and the act. Then this acts on
    /// the new one.
    async fn act_on<T>(&self, css: &str, act: impl AsyncFn(&Element) -> Result<T, CmdError>) -> T {
        loop {
            match act(&self.find(css).await).await {
                Err(error) if error.is_stale_element_reference() => {}
                acted => return acted.unwrap_or_else(|error| panic!("{css}: {error}")),
            }
        }
    }

    /// Waits for a button with this text and presses it.
    pub async fn press_button(&self, text: &str) {
        let button = self.wait_for(Locator::XPath(&format!("//button[normalize-space()={}]", quoted(text)))).await;
        button.click().await.unwrap_or_else(|error| panic!("a click on {text}: {error}"));
    }

    /// Waits for a paragraph with this text.
    pub async fn wait_for_paragraph(&self, text: &str) {
        self.wait_for(Locator::XPath(&format!("//p[normalize-space()={}]", quoted(text)))).await;
    }

    /// Types into a field.
    pub async fn fill(&self, css: &str, text: &str) {
        self.act_on(css, async |element| element.send_keys(text).await).await;
    }

    /// Chooses a new file with this name and content in a field for files.
    pub async fn choose_file(&self, css: &str, name: &str, content: &str) {
        let folder = self.driver.home.path().join(UPLOADS);
        fs::create_dir_all(&folder).expect("a folder in the profile's folder");
        let path = folder.join(name);
        fs::write(&path, content).expect("a file in the profile's folder");
        self.fill(css, path.to_str().expect("a path in UTF-8")).await;
    }

    /// Waits for the file that the visitor downloads and whose name begins with `start`. Removes it and returns its text.
    pub async fn downloaded(&self, start: &str) -> String {
        let folder = self.driver.home.path().join(DOWNLOADS);
        let complete = async || {
            // The browser creates the folder with the first file.
            let mut files = fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.path());
            files.find(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(start) && !name.ends_with(INCOMPLETE)
            })
        };
        let path = self.until(&format!("a downloaded file {start}"), complete).await;
        let text = fs::read_to_string(&path).expect("a text");
        fs::remove_file(&path).expect("a file that can be removed");
        text
    }

    /// Puts the focus on an element.
    pub async fn focus(&self, css: &str) {
        self.find(css).await;
        self.run(&format!("document.querySelector({}).focus()", json!(css))).await;
    }

    /// Empties a field.
    pub async fn clear(&self, css: &str) {
        self.act_on(css, async |element| element.clear().await).await;
    }

    /// Waits until the main part of the page, its foot and its dialogs show exactly one link or button with this text. Marks
    /// it alone with the attribute `data-walked`.
    pub async fn mark(&self, text: &str) {
        self.mark_in(PLACES, text).await;
    }

    /// Marks a link or a button as [`Self::mark`] does, but looks for it only in what matches this CSS selector.
    pub async fn mark_in(&self, css: &str, text: &str) {
        // Hidden buttons, which are not for visitors, have a negative tabindex.
        let places = json!(format!(":is({css}) :is(a, button, summary):not([tabindex='-1'])"));
        let script = format!(
            "for (const marked of document.querySelectorAll('[data-walked]')) {{
                delete marked.dataset.walked;
            }}
            const found = [...document.querySelectorAll({places})].filter((element) =>
                element.checkVisibility({{ visibilityProperty: true }})
                    && element.textContent.replace(/\\s+/g, ' ').trim() === {});
            if (found.length === 1) {{
                found[0].dataset.walked = '';
            }}
            return found.length === 1;",
            json!(text)
        );
        self.until_true(&format!("exactly one link or button “{text}” in {css}"), &script).await;
    }

    /// Waits until the main part of the page shows this text. Each line break and each gap between two blocks counts as one
    /// blank. Hidden text does not count.
    pub async fn wait_for_text(&self, text: &str) {
        let script = "return document.querySelector('main')?.innerText.replace(/\\s+/g, ' ').includes";
        self.until_true(&format!("the text “{text}”"), &format!("{script}({})", json!(text))).await;
    }

    /// Chooses an option of a select element by its value.
    pub async fn choose(&self, css: &str, value: &str) {
        self.act_on(css, async |element| element.select_by_value(value).await).await;
    }

    /// The visible text of an element.
    pub async fn text(&self, css: &str) -> String {
        self.act_on(css, async |element| element.text().await).await
    }

    /// A property of an element, such as the value of a field.
    pub async fn property(&self, css: &str, name: &str) -> String {
        self.act_on(css, async |element| element.prop(name).await).await.unwrap_or_default()
    }

    /// Runs a script of the test and returns its result. It runs even if the page's own scripts do not.
    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Presses and releases each key, wherever the focus is.
    pub async fn press(&self, keys: impl IntoIterator<Item = char>) {
        let strokes = keys.into_iter().fold(KeyActions::new("keyboard".to_owned()), |strokes, value| {
            strokes.then(KeyAction::Down { value }).then(KeyAction::Up { value })
        });
        self.client.perform_actions(strokes).await.expect("keys to be pressed");
    }

    /// Selects the whole text of the field that has the focus.
    pub async fn select_all(&self) {
        let (control, letter) = (char::from(Key::Control), 'a');
        let strokes = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: control })
            .then(KeyAction::Down { value: letter })
            .then(KeyAction::Up { value: letter })
            .then(KeyAction::Up { value: control });
        self.client.perform_actions(strokes).await.expect("keys to be pressed");
    }

    /// Presses and releases each of these keys, wherever the focus is.
    pub async fn strike(&self, keys: &[Key]) {
        self.press(keys.iter().map(|key| char::from(*key))).await;
    }

    /// Presses the mouse on an element and moves it to another one, where it stays down. Each place is this number of
    /// pixels below the middle of the element. Both elements must fit into the window.
    pub async fn hold(&self, from: (&str, f64), to: (&str, f64)) {
        let [begin, end] = self.way(from, to).await;
        let strokes = MouseActions::new("mouse".to_owned()).then(begin);
        let strokes = strokes.then(PointerAction::Down { button: MOUSE_BUTTON_LEFT }).then(end);
        self.client.perform_actions(strokes).await.expect("the mouse to move");
    }

    /// Releases the mouse.
    pub async fn let_go(&self) {
        let strokes = MouseActions::new("mouse".to_owned()).then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.client.perform_actions(strokes).await.expect("the mouse to be released");
    }

    /// Drags with the mouse, between places as in [`Self::hold`].
    pub async fn drag(&self, from: (&str, f64), to: (&str, f64)) {
        self.hold(from, to).await;
        self.let_go().await;
    }

    /// Drags with a finger that rests first, between places as in [`Self::hold`].
    pub async fn drag_by_finger(&self, from: (&str, f64), to: (&str, f64)) {
        let [begin, end] = self.way(from, to).await;
        let finger = TouchActions::new("finger".to_owned()).then(begin);
        let finger = finger.then(PointerAction::Down { button: MOUSE_BUTTON_LEFT }).pause(LONG_PRESS).then(end);
        let finger = finger.then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.client.perform_actions(finger).await.expect("the finger to move");
    }

    /// The movements of a pointer to two places, the first of which is scrolled to.
    async fn way(&self, from: (&str, f64), to: (&str, f64)) -> [PointerAction; 2] {
        let (first, second) = (self.find(from.0).await, self.find(to.0).await);
        self.run(&format!("document.querySelector({}).scrollIntoView({{ block: 'center' }})", json!(from.0))).await;
        [(first, from.1), (second, to.1)].map(|(element, y)| PointerAction::MoveToElement {
            element,
            duration: Some(WAY),
            x: 0.0,
            y,
        })
    }

    /// Presses Enter.
    pub async fn enter(&self) {
        self.press([char::from(Key::Enter)]).await;
    }

    /// Presses Tab until the focus is on an element that matches this CSS selector.
    pub async fn tab_to(&self, css: &str) {
        self.find(css).await;
        for _ in 0..TABS_MAX {
            self.press([char::from(Key::Tab)]).await;
            if self.is_at(css).await {
                return;
            }
        }
        panic!("Tab never reaches {css}");
    }

    /// Whether the focus is on an element that matches this CSS selector.
    pub async fn is_at(&self, css: &str) -> bool {
        let script = format!("return document.activeElement.matches({})", json!(css));
        self.run(&script).await == true
    }

    async fn wait_for(&self, what: Locator<'_>) -> Element {
        match self.client.wait().at_most(PATIENCE).every(PERIOD).for_element(what).await {
            Ok(element) => element,
            Err(error) => panic!("{what:?}: {error}\n{}", self.shown().await),
        }
    }

    /// Looks again and again until there is a result.
    async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(result) = look().await {
                return result;
            }
            assert!(Instant::now() < deadline, "waited too long for {what}\n{}", self.shown().await);
            sleep(PERIOD).await;
        }
    }

    /// Runs a script of the test until it returns true. It may fail while the browser replaces the page.
    async fn until_true(&self, what: &str, script: &str) {
        let look = async || {
            let result = self.client.execute(script, Vec::new()).await;
            result.is_ok_and(|value| value == true).then_some(())
        };
        self.until(what, look).await;
    }

    /// The address and the source of the page, for the report of a failure.
    async fn shown(&self) -> String {
        let (url, source) = (self.client.current_url().await, self.client.source().await);
        format!("{url:?}\n{}", source.unwrap_or_default())
    }
}

/// A text as an expression of XPath, which has no escapes.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') { '"' } else { '\'' };
    assert!(!text.contains(quote), "{text} has both kinds of quotes");
    format!("{quote}{text}{quote}")
}
