//! A browser of one user that follows no redirect, for tests of pages and forms.

use std::collections::BTreeMap;

use kalends_e2e::Server;

use crate::{console::PASSWORD, front::http};

/// A text that would run a script if a page did not escape it.
pub(crate) const HOSTILE: &str = "\"><script>alert(1)</script>";

/// An answer to a browser that follows no redirect.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) location: String,
    pub(crate) cookie: String,
    pub(crate) retry_after: String,
    pub(crate) text: String,
}

/// A browser of one user: it keeps the cookies.
pub(crate) struct Pages<'a> {
    server: &'a Server,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The number of forms with a file that were sent.
    uploads: u32,
}

impl<'a> Pages<'a> {
    pub(crate) const fn new(server: &'a Server) -> Self {
        Self { server, cookies: BTreeMap::new(), uploads: 0 }
    }

    async fn ask(&mut self, request: reqwest::RequestBuilder) -> Seen {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header("accept", "text/html").header("cookie", cookies.join("; "));
        let answer = request.send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, location, cookie) = (answer.status().as_u16(), header("location"), header("set-cookie"));
        let retry_after = header("retry-after");
        if let Some(((name, value), rest)) =
            cookie.split_once(';').and_then(|(pair, rest)| Some((pair.split_once('=')?, rest)))
        {
            self.cookies.insert(name.to_owned(), value.to_owned());
            self.cookies.retain(|kept, _| kept != name || !rest.contains("Max-Age=0;"));
        }
        Seen { status, location, cookie, retry_after, text: answer.text().await.unwrap() }
    }

    pub(crate) async fn open(&mut self, path: &str) -> Seen {
        self.ask(http().get(format!("{}{path}", self.server.base_url()))).await
    }

    /// Sends a form, as a browser does from a page of this server.
    pub(crate) async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let origin = self.server.base_url().to_owned();
        self.send_from(&origin, path, fields).await
    }

    pub(crate) async fn send_from(&mut self, origin: &str, path: &str, fields: &[(&str, &str)]) -> Seen {
        let encoded = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let form = http().post(format!("{}{path}", self.server.base_url()));
        let form = form.header("content-type", "application/x-www-form-urlencoded").header("origin", origin);
        self.ask(form.body(body.join("&"))).await
    }

    /// Sends a form with a field for a file, as a browser does from a page of this server. `file` is the name and the
    /// content of the file that is chosen.
    pub(crate) async fn upload(&mut self, path: &str, fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Seen {
        let origin = self.server.base_url().to_owned();
        self.upload_from(&origin, path, fields, file).await
    }

    pub(crate) async fn upload_from(
        &mut self,
        origin: &str,
        path: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &[u8])>,
    ) -> Seen {
        // A browser never separates two bodies in the same way.
        self.uploads += 1;
        let boundary = format!("----browser{}", self.uploads);
        let begin = |named: &str| format!("--{boundary}\r\nContent-Disposition: form-data; name={named}\r\n");
        let mut body = Vec::new();
        for (name, value) in fields {
            let value = value.replace("\r\n", "\n").replace('\n', "\r\n");
            body.extend(format!("{}\r\n{value}\r\n", begin(&format!("\"{name}\""))).bytes());
        }
        let (name, content) = file.unwrap_or_default();
        let named = format!("\"file\"; filename=\"{name}\"");
        body.extend(format!("{}Content-Type: application/octet-stream\r\n\r\n", begin(&named)).bytes());
        body.extend([content, format!("\r\n--{boundary}--\r\n").as_bytes()].concat());
        let form = http().post(format!("{}{path}", self.server.base_url())).header("origin", origin);
        let form = form.header("content-type", format!("multipart/form-data; boundary={boundary}"));
        self.ask(form.body(body)).await
    }

    /// Signs in by the form.
    pub(crate) async fn sign_in(&mut self, email: &str) {
        let entered = self.send("/console/sign-in", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(entered.status, 303, "{}", entered.text);
    }

    /// Signs in by the form, and switches to that organization.
    pub(crate) async fn sign_in_to(&mut self, email: &str, org: &str) {
        self.sign_in(email).await;
        self.send(&format!("/console/orgs/{org}/switch"), &[]).await.leads_to("/console");
    }
}

impl Seen {
    /// Requires this status and text.
    #[track_caller]
    pub(crate) fn says(self, status: u16, text: &str) -> Self {
        assert!(self.status == status && self.text.contains(text), "{} {}, not {text}", self.status, self.text);
        assert!(!self.text.contains("<script>alert"), "{}", self.text);
        // What is said above a form leads to the problem.
        if let Some((before, _)) = self.text.split_once("\">See what</a>") {
            let problem = before.rsplit('#').next().unwrap();
            assert!(self.text.contains(&format!("id=\"{problem}\"")), "{problem}: {}", self.text);
        }
        self
    }

    /// Requires a redirect to the sign-in, which leads back to the page that was asked for.
    #[track_caller]
    pub(crate) fn asks_to_sign_in(self) {
        let leads_back = self.location.starts_with("/console/sign-in?next=%2Fconsole%2F");
        assert!(self.status == 303 && leads_back, "{} {} {}", self.status, self.location, self.text);
    }

    /// Requires a redirect from a form to this page.
    #[track_caller]
    pub(crate) fn leads_to(self, location: &str) -> Self {
        assert_eq!((self.status, &*self.location), (303, location), "{}", self.text);
        self
    }
}

/// The value of the hidden field of a form.
pub(crate) fn hidden(text: &str, name: &str) -> String {
    let (_, rest) = text.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}
