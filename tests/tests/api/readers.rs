//! Readers of pages and of emails in each language. The texts are read from the message files.

use chrono::{DateTime, Datelike as _, TimeDelta, Timelike as _, Utc, Weekday};
use kalends_e2e::{Answer, Mail, Server, at, plain_http, shifted};
use mail_parser::{MessageParser, PartType};
use reqwest::header::HeaderValue;
use serde_json::Value;

use crate::{
    desk::{Booked, Desk, HTML, Open, booking, squeezed, unescaped},
    fixtures::now,
};

/// One tag of each language.
pub(crate) const TAGS: [&str; 6] = ["en-GB", "de", "fr", "es", "pt", "ja"];
/// The language that is asked for in addresses and forms. Its weeks begin on Sunday.
pub(crate) const CANADIAN: &str = "fr-CA";
/// A zone that is 5:45 hours ahead of UTC all year.
pub(crate) const KATHMANDU: (&str, i64) = ("Asia/Kathmandu", 345);
/// A zone that is 9 hours ahead of UTC all year.
pub(crate) const TOKYO: (&str, i64) = ("Asia/Tokyo", 540);

/// The message files, by language.
pub(crate) const MESSAGES: [(&str, &str); 6] = [
    ("en", include_str!("../../../crates/i18n/messages/en.ftl")),
    ("de", include_str!("../../../crates/i18n/messages/de.ftl")),
    ("fr", include_str!("../../../crates/i18n/messages/fr.ftl")),
    ("es", include_str!("../../../crates/i18n/messages/es.ftl")),
    ("pt", include_str!("../../../crates/i18n/messages/pt.ftl")),
    ("ja", include_str!("../../../crates/i18n/messages/ja.ftl")),
];

/// The language of a tag.
pub(crate) fn language(tag: &str) -> &str {
    tag.split('-').next().unwrap()
}

pub(crate) fn file(tag: &str) -> &'static str {
    let found = MESSAGES.iter().find(|(name, _)| *name == language(tag));
    found.unwrap_or_else(|| panic!("no messages in {tag}")).1
}

/// A message with its gaps filled in. If a message has variants, this number selects one.
#[track_caller]
pub(crate) fn filled(tag: &str, id: &str, gaps: &[(&str, &str)]) -> String {
    let (file, mark) = (file(tag), format!("{id} = "));
    let mut lines = file.lines().skip_while(|line| !line.starts_with(&mark));
    let first = lines.next().unwrap_or_else(|| panic!("no {id} in {tag}")).trim_start_matches(&mark);
    let mut message = first.to_owned();
    if first.ends_with("->") {
        let variants: Vec<&str> = lines.take_while(|line| !line.starts_with('}')).map(str::trim).collect();
        let of = |key: &str| variants.iter().find_map(|line| line.strip_prefix(key));
        let one = gaps.iter().any(|(_, value)| *value == "1").then(|| of("[one]")).flatten();
        message = one.or_else(|| of("*[other]")).unwrap_or_else(|| panic!("{id} in {tag}")).trim().to_owned();
    }
    for (name, value) in gaps {
        message = message.replace(&format!("{{ ${name} }}"), value);
    }
    assert!(!message.contains("{ $"), "{id} in {tag} has further gaps: {message}");
    message
}

/// A message without gaps.
#[track_caller]
pub(crate) fn message(tag: &str, id: &str) -> String {
    filled(tag, id, &[])
}

/// The part of a message before its first gap.
#[track_caller]
pub(crate) fn beginning(tag: &str, id: &str) -> String {
    let mark = format!("{id} = ");
    let line = file(tag).lines().find_map(|line| line.strip_prefix(&mark));
    line.unwrap_or_else(|| panic!("no {id} in {tag}")).split('{').next().unwrap().to_owned()
}

/// The messages without gaps.
pub(crate) fn whole_messages(tag: &str) -> impl Iterator<Item = &'static str> {
    let lines = file(tag).lines().filter(|line| line.starts_with(|letter: char| letter.is_ascii_lowercase()));
    lines.filter_map(|line| line.split_once(" = ")).map(|(_, value)| value).filter(|value| !value.contains('{'))
}

/// Requires that nothing was left in English.
#[track_caller]
pub(crate) fn is_not_english(tag: &str, text: &str) {
    if language(tag) == "en" {
        return;
    }
    let short = |english: &&str| english.len() < 10;
    for english in whole_messages("en").filter(|english| !short(english)) {
        let shared = whole_messages(tag).any(|own| own.contains(english));
        assert!(shared || !text.contains(english), "{tag} has {english:?}: {text}");
    }
}

/// The weekdays of a language, from Monday.
pub(crate) fn weekdays(tag: &str) -> [&'static str; 7] {
    match language(tag) {
        "en" => ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
        "de" => ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
        "fr" => ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
        "es" => ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
        "pt" => ["segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"],
        _ => ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"],
    }
}

/// The months of a language. Those of Japanese are numbers.
pub(crate) fn months(tag: &str) -> [&'static str; 12] {
    match language(tag) {
        "en" => [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        "de" => [
            "Januar",
            "Februar",
            "März",
            "April",
            "Mai",
            "Juni",
            "Juli",
            "August",
            "September",
            "Oktober",
            "November",
            "Dezember",
        ],
        "fr" => [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        "es" => [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
        "pt" => [
            "janeiro",
            "fevereiro",
            "março",
            "abril",
            "maio",
            "junho",
            "julho",
            "agosto",
            "setembro",
            "outubro",
            "novembro",
            "dezembro",
        ],
        _ => ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
    }
}

pub(crate) fn weekday(tag: &str, time: DateTime<Utc>) -> &'static str {
    weekdays(tag)[time.weekday().num_days_from_monday() as usize]
}

pub(crate) fn month(tag: &str, time: DateTime<Utc>) -> &'static str {
    months(tag)[time.month0() as usize]
}

/// A date as this locale writes it in full.
pub(crate) fn date(tag: &str, time: DateTime<Utc>) -> String {
    let (weekday, day, month, year) = (weekday(tag, time), time.day(), month(tag, time), time.year());
    match tag {
        "en-US" => format!("{weekday}, {month} {day}, {year}"),
        "en-GB" => format!("{weekday}, {day} {month} {year}"),
        "de" => format!("{weekday}, {day}. {month} {year}"),
        "fr" => format!("{weekday} {day} {month} {year}"),
        "es" | "pt" => format!("{weekday}, {day} de {month} de {year}"),
        "ja" => format!("{year}年{month}月{day}日{weekday}"),
        _ => panic!("no dates in {tag}"),
    }
}

/// The heading of a month.
pub(crate) fn heading(tag: &str, time: DateTime<Utc>) -> String {
    let (month, year) = (month(tag, time), time.year());
    match language(tag) {
        "es" | "pt" => format!("{month} de {year}"),
        "ja" => format!("{year}年{month}月"),
        _ => format!("{month} {year}"),
    }
}

/// A time as the clock of this locale shows it.
pub(crate) fn clock(tag: &str, time: DateTime<Utc>) -> String {
    let format = match tag {
        "en-US" => "%-I:%M\u{202f}%p",
        "ja" => "%-H:%M",
        _ => "%H:%M",
    };
    time.format(format).to_string()
}

/// The time of an hour in a zone that is this many minutes ahead, as a mail writes it.
pub(crate) fn when(tag: &str, start: &str, (zone, ahead): (&str, i64)) -> String {
    let from = at(start) + TimeDelta::minutes(ahead);
    let to = from + TimeDelta::hours(1);
    assert_eq!(from.date_naive(), to.date_naive(), "the test needs a slot within a day");
    let (begin, end) = (clock(tag, from), clock(tag, to));
    filled(tag, "when-times", &[("date", &date(tag, from)), ("start", &begin), ("end", &end), ("zone", zone)])
}

/// Slots from tomorrow on that lie within a day, in UTC and in both zones of this test.
pub(crate) fn daytime(slots: &[String]) -> Vec<String> {
    let within = |slot: &String| [0, KATHMANDU.1, TOKYO.1].iter().all(|ahead| at(&shifted(slot, *ahead)).hour() < 23);
    slots.iter().skip(24).filter(|slot| within(slot)).cloned().collect()
}

/// A browser that sends any language.
pub(crate) struct Reader {
    browser: reqwest::Client,
    base: String,
}

/// A page as it was received.
pub(crate) struct View {
    pub(crate) status: u16,
    cookie: bool,
    pub(crate) raw: String,
}

impl Reader {
    pub(crate) fn of(server: &Server) -> Self {
        let browser = plain_http().redirect(reqwest::redirect::Policy::none());
        Self { browser: browser.build().unwrap(), base: server.base_url().to_owned() }
    }

    /// Opens a page with this `Accept-Language`. An empty one is not sent.
    pub(crate) async fn get(&self, accepted: impl AsRef<[u8]>, path: &str) -> View {
        Self::send(self.browser.get(format!("{}{path}", self.base)), accepted.as_ref()).await
    }

    /// Opens a page with this `lang`, percent-encoded.
    pub(crate) async fn get_in(&self, accepted: &str, path: &str, lang: &str) -> View {
        let request = self.browser.get(format!("{}{path}", self.base)).query(&[("lang", lang)]);
        Self::send(request, accepted.as_bytes()).await
    }

    /// Submits a form. A field `lang` is sent in its address, where the forms of all pages have it.
    pub(crate) async fn post(&self, accepted: &str, path: &str, fields: &[(&str, &str)]) -> View {
        let (lang, fields): (Vec<_>, Vec<_>) = fields.iter().copied().partition(|(name, _)| *name == "lang");
        let request = self.browser.post(format!("{}{path}", self.base)).query(&lang);
        Self::send(request.header("origin", "null").form(&fields), accepted.as_bytes()).await
    }

    pub(crate) async fn send(request: reqwest::RequestBuilder, accepted: &[u8]) -> View {
        let mut request = request.header("accept", HTML);
        if !accepted.is_empty() {
            request = request.header("accept-language", HeaderValue::from_bytes(accepted).unwrap());
        }
        let answer = request.send().await.unwrap();
        let (status, cookie) = (answer.status().as_u16(), answer.headers().contains_key("set-cookie"));
        View { status, cookie, raw: answer.text().await.unwrap() }
    }
}

impl View {
    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.raw);
        self
    }

    pub(crate) fn plain(&self) -> String {
        unescaped(&self.raw)
    }

    /// The language that the page names.
    #[track_caller]
    pub(crate) fn language(&self) -> &str {
        let rest = self.raw.split_once("<html lang=\"").unwrap_or_else(|| panic!("no language: {}", self.raw)).1;
        rest.split('"').next().unwrap()
    }

    /// Requires a page in this language.
    #[track_caller]
    pub(crate) fn speaks(self, tag: &str) -> Self {
        assert_eq!(self.language(), language(tag), "{}", self.raw);
        is_not_english(tag, &self.plain());
        self
    }

    /// Requires this message as the heading, and a page in this language.
    #[track_caller]
    pub(crate) fn headed(self, tag: &str, id: &str) -> Self {
        let heading = message(tag, id);
        assert!(self.plain().contains(&format!("<h1>{heading}</h1>")), "{heading}: {}", self.raw);
        self.speaks(tag)
    }

    /// Requires these messages.
    #[track_caller]
    pub(crate) fn says(self, tag: &str, ids: &[&str]) -> Self {
        let texts: Vec<String> = ids.iter().map(|id| message(tag, id)).collect();
        self.has(&texts)
    }

    #[track_caller]
    pub(crate) fn has<T: AsRef<str>>(self, parts: &[T]) -> Self {
        let plain = self.plain();
        for part in parts {
            assert!(plain.contains(part.as_ref()), "{}: {plain}", part.as_ref());
        }
        self
    }

    /// Requires a part exactly as it was received.
    #[track_caller]
    pub(crate) fn has_raw(self, part: &str) -> Self {
        assert!(self.raw.contains(part), "{part}: {}", self.raw);
        self
    }

    /// Requires that the text of [`EVIL`] is no markup, and that nothing was set.
    #[track_caller]
    pub(crate) fn harmless(self) -> Self {
        for part in ["<script>", "<img src=x", "\"'>"] {
            assert!(!self.raw.contains(part), "{part}: {}", self.raw);
        }
        assert!(!self.cookie);
        self
    }

    /// The addresses of all links.
    pub(crate) fn hrefs(&self) -> Vec<String> {
        self.raw.split(" href=\"").skip(1).map(|rest| unescaped(rest.split('"').next().unwrap())).collect()
    }

    /// The path of the link that contains this, without the parameters.
    #[track_caller]
    pub(crate) fn link(&self, part: &str) -> String {
        let hrefs = self.hrefs();
        let link = hrefs.iter().find(|href| href.contains("/book/") && href.contains(part));
        let link = link.unwrap_or_else(|| panic!("no link {part}: {}", self.raw)).split('?').next().unwrap();
        link[link.find("/book/").unwrap()..].to_owned()
    }

    /// The links to other pages of the service.
    pub(crate) fn pages(&self, base: &str) -> Vec<String> {
        let mut hrefs: Vec<String> =
            self.hrefs().into_iter().map(|href| href.strip_prefix(base).unwrap_or(&href).to_owned()).collect();
        hrefs.retain(|href| {
            let file = href.contains("/assets/") || href.ends_with(".ics");
            !file && ["/book/", "/rsvp/", "?"].iter().any(|begin| href.starts_with(begin))
        });
        hrefs
    }

    /// Requires that all links and forms keep the language that was asked for. Links to the other languages name
    /// those.
    #[track_caller]
    pub(crate) fn keeps(self, base: &str, lang: &str) -> Self {
        let mut others = 0;
        for link in self.pages(base) {
            let value = link.split(['?', '&', '#']).find_map(|part| part.strip_prefix("lang="));
            let value = value.unwrap_or_else(|| panic!("{link} has lost the language: {}", self.raw));
            if value != lang {
                assert!(MESSAGES.iter().any(|(name, _)| *name == language(value)), "{link}: {}", self.raw);
                others += 1;
            }
        }
        assert!(others <= MESSAGES.len(), "{others} links are in other languages: {}", self.raw);
        for one in self.raw.split("<form").skip(1) {
            let one = one.split("</form>").next().unwrap();
            let hidden = [format!("name=\"lang\" value=\"{lang}\"")];
            let action = [format!("?lang={lang}\""), format!("&#38;lang={lang}\"")];
            let kept = hidden.iter().chain(&action).any(|part| one.contains(part));
            assert!(kept, "a form has lost the language: {one}");
        }
        self
    }

    /// Requires that the week begins with this day and that each day is in its column.
    #[track_caller]
    pub(crate) fn begins(self, tag: &str, first: Weekday) -> Self {
        let first = first.num_days_from_monday() as usize;
        let (_, rest) = self.raw.split_once("<thead>").unwrap_or_else(|| panic!("no grid: {}", self.raw));
        let (head, rest) = rest.split_once("</thead>").unwrap();
        assert_eq!(head.matches("<th scope=\"col\">").count(), 7, "{head}");
        let titles: Vec<&str> =
            head.split("<abbr title=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let mut expected = weekdays(tag);
        expected.rotate_left(first);
        assert_eq!(titles, expected, "{tag}");
        let mut dated = 0;
        for row in rest.split("</table>").next().unwrap().split("<tr").skip(1) {
            let mut column = 0;
            for cell in row.split("<td").skip(1) {
                let value = |mark: &str| cell.split_once(mark).map(|(_, rest)| rest.split('"').next().unwrap());
                if let Some(day) = value("datetime=\"") {
                    let day = at(&format!("{}T00:00:00Z", &day[..10])).weekday().num_days_from_monday() as usize;
                    assert_eq!((first + column) % 7, day, "{tag}: {row}");
                    dated += 1;
                }
                column += value("colspan=\"").map_or(1, |span| span.parse::<usize>().unwrap());
            }
        }
        assert!(dated > 0, "no days: {}", self.raw);
        self
    }
}

/// A mail and its HTML, which may be empty.
pub(crate) struct Letter {
    pub(crate) mail: Mail,
    pub(crate) html: String,
}

impl Letter {
    /// Requires this subject, and a mail in this language that says all of this.
    #[track_caller]
    pub(crate) fn says(&self, tag: &str, subject: &str, parts: &[&str]) {
        assert_eq!(self.mail.subject, subject, "{:#?}", self.mail);
        assert!(self.html.contains(&format!("<html lang=\"{}\"", language(tag))), "{tag}: {}", self.html);
        let (greeting, signature) = (message(tag, "mail-greeting"), message(tag, "mail-signature"));
        let (text, html) = (squeezed(&self.mail.text), squeezed(&unescaped(&self.html)));
        for part in [&[greeting.as_str(), &signature], parts].concat() {
            assert!(text.contains(&squeezed(part)), "{part}: {:#?}", self.mail);
        }
        assert!(html.contains(&squeezed(&greeting)), "{}", self.html);
        is_not_english(tag, &self.mail.text);
        is_not_english(tag, &unescaped(&self.html));
    }

    /// Requires a mail of one kind about the booking of Intro: its subject, its sentence, and these messages.
    #[track_caller]
    pub(crate) fn is(&self, tag: &str, kind: &str, start: &str, zone: (&str, i64), ids: &[&str]) {
        let booking = filled(tag, "mail-booking", &[("title", "Intro")]);
        let sentence = filled(tag, kind, &[("booking", &booking), ("when", &when(tag, start, zone))]);
        // The first letter may be a capital.
        let sentence: String = sentence.chars().skip(1).collect();
        let subject = filled(tag, &format!("{kind}-subject"), &[("title", "Intro")]);
        let mut parts: Vec<String> = ids.iter().map(|id| message(tag, id)).collect();
        parts.push(sentence);
        self.says(tag, &subject, &parts.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// The next mails with their HTML, by recipient. There must be no more of them.
pub(crate) async fn letters(desk: &mut Desk, count: usize) -> Vec<Letter> {
    let from = desk.seen;
    desk.mails(count).await;
    let mut paths: Vec<_> = std::fs::read_dir(desk.server.data_dir().join("mail")).unwrap().collect();
    paths.retain(|file| file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "eml"));
    let mut paths: Vec<_> = paths.into_iter().map(|file| file.unwrap().path()).collect();
    paths.sort();
    let all = desk.server.mails().into_iter().zip(paths).skip(from);
    let mut letters: Vec<Letter> = all.map(|(mail, path)| Letter { mail, html: html_of(&path) }).collect();
    letters.sort_by_key(|letter| letter.mail.to.clone());
    letters
}

pub(crate) fn html_of(path: &std::path::Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let message = MessageParser::new().parse(&bytes).unwrap();
    let found = message.parts.iter().find_map(|part| match &part.body {
        PartType::Html(html) => Some(html.clone().into_owned()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Books as a program that accepts this language.
pub(crate) async fn book(desk: &Desk, page: &Open, accepted: &str, start: &str, fields: Value) -> Answer {
    let mut call = desk.guest.post(&page.book);
    if !accepted.is_empty() {
        call = call.header("accept-language", accepted);
    }
    call.json(booking(start, fields)).await
}

/// Books as a program that accepts this language. The booking must be made.
pub(crate) async fn booked(desk: &Desk, page: &Open, accepted: &str, start: &str, fields: Value) -> Booked {
    desk.booked(&book(desk, page, accepted, start, fields).await.expect(201))
}

/// Starts the service again at this time.
pub(crate) async fn forward(desk: &mut Desk, time: &str) {
    let offset = desk.server.environment().get("KALENDS_CLOCK_OFFSET_SECONDS");
    let offset: i64 = offset.map_or(0, |seconds| seconds.parse().unwrap());
    let ahead = at(time) - at(&now(&desk.api).await);
    desk.later(offset + ahead.num_seconds()).await;
}

/// The path of the link in a mail that begins like this.
#[track_caller]
pub(crate) fn link_in(desk: &Desk, mail: &Mail, begin: &str) -> String {
    let mark = format!("{}{begin}", desk.server.base_url());
    let (_, rest) = mail.text.split_once(&mark).unwrap_or_else(|| panic!("no link {mark}: {mail:#?}"));
    let token = rest.split(|letter: char| letter.is_whitespace() || "<>\"()".contains(letter)).next().unwrap();
    format!("{begin}{token}")
}
