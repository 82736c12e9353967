//! Third-party text stays text.

use kalends_kernel::Language;
use kalends_time::testing::config;
use proptest::prelude::*;
use rstest::rstest;

use super::fixture::{every_page, pages_in};
use super::markup::read;

#[rstest]
#[case("<script>alert(1)</script>")]
#[case("\"><img src=x onerror=alert(1)>")]
#[case("' onmouseover='alert(1)")]
#[case("</textarea></title></main><b>")]
#[case("&lt;script&gt; &amp; Co")]
#[case("javascript:alert(1)")]
#[case("<!-- --> ]]> {{ 7 }} {% x %}")]
fn foreign_text_adds_no_markup(#[case] text: &str) {
    let (plain, foreign) = (every_page("Call"), every_page(text));
    for ((name, plain), (_, foreign)) in plain.iter().zip(&foreign) {
        let ((expected, _), (tags, text_of_page)) = (read(plain), read(foreign));
        let names = |tags: &[super::markup::Tag]| -> Vec<(String, Vec<String>)> {
            let attributes = |tag: &super::markup::Tag| tag.attributes.iter().map(|(name, _)| name.clone()).collect();
            tags.iter().map(|tag| (tag.name.clone(), attributes(tag))).collect()
        };
        assert_eq!(names(&tags), names(&expected), "{name}");
        // It is shown as written, unless the page does not show third-party text at all.
        let shows_it = read(plain).1.contains("Call");
        assert_eq!(text_of_page.contains(text), shows_it, "{name}");
    }
}

#[test]
fn fields_hold_what_was_typed() {
    let text = "\"quoted\" <b> & 'more'\nline";
    let (pages, _) = pages_in(Language::English, text);
    let form = &pages.iter().find(|(name, _)| *name == "form").unwrap().1;
    let (tags, text_of_page) = read(form);
    for field in ["name", "email"] {
        let tag = tags.iter().find(|tag| tag.get("id") == Some(field)).unwrap();
        assert_eq!(tag.get("value"), Some(text));
    }
    assert!(text_of_page.contains(text), "the notes are the text of their field");
}

/// How the links begin that add a booking to a calendar.
const ADDERS: [&str; 2] = [
    "https://calendar.google.com/calendar/render?action=TEMPLATE&text=",
    "https://outlook.live.com/calendar/0/deeplink/compose?path=/calendar/action/compose&rru=addevent&subject=",
];

/// The addresses of the programs that ask for access in the fixtures.
const CALLBACKS: [&str; 2] = [
    "https://assistant.example/callback?code=x&state=y",
    "cursor://anysphere.cursor-mcp/oauth/callback?code=x&state=y",
];

proptest! {
    // Each case renders every page.
    #![proptest_config(config(64))]

    /// Links and forms of a public page lead to this server, to the two services that add a booking to a calendar, or back
    /// to the program that asked for access, whatever the third-party texts on it.
    #[test]
    fn links_and_forms_lead_to_this_server_whatever_the_texts(
        text in "\\PC{0,40}",
        language in prop::sample::select(&Language::ALL[..]),
    ) {
        for (name, page) in pages_in(language, &text).0 {
            for tag in read(&page).0 {
                for attribute in ["href", "action", "src", "formaction"] {
                    if let Some(address) = tag.get(attribute) {
                        let local = address.starts_with('/') && !address.starts_with("//") || address.starts_with('#');
                        let adds = attribute == "href" && ADDERS.iter().any(|begin| address.starts_with(begin));
                        let returns = attribute == "href" && name.starts_with("connector, ") && CALLBACKS.contains(&address);
                        prop_assert!(local || adds || returns, "{}: {}", name, address);
                    }
                }
            }
        }
    }

    /// Third-party text stays within its line: the marks at the beginnings of lines do not depend on it.
    #[test]
    fn foreign_text_adds_no_lines_to_the_markdown(text in "[a-z#*_`<>|\\[\\]()!\\-\\r\\n\\t 0-9.]{0,60}") {
        let marks = |markdown: &str| -> Vec<String> {
            let heads = markdown.lines().filter(|line| !line.starts_with('>'));
            heads.map(|line| line.chars().take_while(|char| !char.is_alphanumeric() && *char != '\\').collect::<String>().trim().to_owned()).collect()
        };
        let text = format!("x{text}");
        let (_, plain) = pages_in(Language::English, "x");
        let (_, foreign) = pages_in(Language::English, &text);
        prop_assert_eq!(marks(&foreign), marks(&plain));
    }
}
