//! What a user copies to connect an agent: the configuration of an MCP client, and a command.
//!
//! Addresses, keys and identifiers have no character that JSON or a shell would need escaped.

use kalends_time::Timestamp;

/// The configuration with which an MCP client reaches the server at `base_url` with that key, as JSON.
pub(crate) fn mcp_configuration(base_url: &str, key: &str) -> String {
    format!(
        r#"{{
  "mcpServers": {{
    "kalends": {{
      "url": "{base_url}/mcp",
      "headers": {{ "Authorization": "Bearer {key}" }}
    }}
  }}
}}"#
    )
}

/// The HTML with which a site shows the booking page at `address` in a frame.
pub(crate) fn embed_code(address: &str, title: &str) -> String {
    let title = title.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    format!(r#"<iframe src="{address}" title="{title}" width="100%" height="800" loading="lazy"></iframe>"#)
}

/// The command for a shell that creates an event from `start` to `end` in that calendar.
pub(crate) fn event_command(base_url: &str, key: &str, calendar: &str, (start, end): (Timestamp, Timestamp)) -> String {
    format!(
        r#"curl "{base_url}/v1/calendars/{calendar}/events" \
  --header "Authorization: Bearer {key}" \
  --header "Content-Type: application/json" \
  --data '{{"title": "First event", "start_time": "{start}", "end_time": "{end}"}}'"#
    )
}

/// The command for a shell that imports the file `calendar.ics` into that calendar. Its key is to be filled in.
pub(crate) fn import_command(base_url: &str, calendar: &str) -> String {
    format!(
        r#"curl "{base_url}/v1/calendars/{calendar}/import" \
  --header "Authorization: Bearer svc_ak_..." \
  --header "Content-Type: text/calendar" \
  --data-binary @calendar.ics"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_shows_the_same_configuration() {
        let documented = include_str!("../../../docs/use/tools.md");
        let configuration = mcp_configuration("https://kalends.example", "svc_ak_...");
        assert!(documented.contains(&configuration), "docs/use/tools.md must contain:\n{configuration}");
        serde_json::from_str::<serde_json::Value>(&configuration).unwrap();
    }

    #[test]
    fn the_documentation_shows_the_same_import() {
        let documented = include_str!("../../../docs/use/ical.md");
        let command = import_command("https://calendar.example.com", "cal_...");
        assert!(documented.contains(&command), "docs/use/ical.md must contain:\n{command}");
    }

    #[test]
    fn the_documentation_shows_the_same_frame() {
        let documented = include_str!("../../../docs/use/booking.md");
        let code = embed_code("https://calendar.example.com/book/intro-call", "Intro call");
        assert!(documented.contains(&code), "docs/use/booking.md must contain:\n{code}");
    }

    #[test]
    fn a_title_stays_within_its_attribute() {
        let code = embed_code("https://calendar.example.com/book/x", "\"><script>&");
        assert!(code.contains(" title=\"&quot;&gt;&lt;script&gt;&amp;\" width="), "{code}");
    }

    #[test]
    fn the_command_sends_an_event() {
        let times = ("2026-03-03T09:00:00Z".parse().unwrap(), "2026-03-03T09:30:00Z".parse().unwrap());
        let command = event_command("https://kalends.example", "svc_ak_x", "cal_x", times);
        assert!(command.starts_with("curl \"https://kalends.example/v1/calendars/cal_x/events\" \\\n"), "{command}");
        let (_, body) = command.split_once("--data '").unwrap();
        let body: serde_json::Value = serde_json::from_str(body.strip_suffix('\'').unwrap()).unwrap();
        assert_eq!(body["start_time"], "2026-03-03T09:00:00Z");
        assert_eq!(body["end_time"], "2026-03-03T09:30:00Z");
    }
}
