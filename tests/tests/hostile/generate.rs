//! Requests that are wrong in every way that we could think of, or in only one.
//!
//! The generated requests are bytes, not values, because no library would write most of them. Real identifiers are the
//! marks of [`crate::description`] until a request is sent.

use proptest::{collection::vec, option, prelude::*, sample::select, strategy::Union};
use serde_json::{Map, Value};

use crate::description::{AGENT, CALENDAR, EVENT, Operation, Parameter};

/// The mark of the organization's key.
pub(crate) const KEY: &str = "@key@";
/// The mark of another organization's agent.
pub(crate) const FOREIGN_AGENT: &str = "@foreign-agent@";

/// A placeholder for a fragment that no library can represent as a JSON value.
const HOLE: &str = "@hole@";

type Bytes = Vec<u8>;

/// A request.
#[derive(Clone)]
pub(crate) struct Attack {
    pub method: String,
    pub target: Bytes,
    /// Whether it has a valid key.
    pub authorized: bool,
    pub headers: Vec<(&'static str, Bytes)>,
    pub body: Option<Bytes>,
}

impl std::fmt::Debug for Attack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string().chars().take(1_500).collect::<String>();
        write!(f, "{} {}", self.method, text(&self.target))?;
        for (name, value) in &self.headers {
            write!(f, "\n  {name}: {}", text(value))?;
        }
        self.body.as_ref().map_or(Ok(()), |body| write!(f, "\n  ({} bytes) {}", body.len(), text(body)))
    }
}

/// The attacks on an operation.
pub(crate) fn attacks(operation: &Operation) -> BoxedStrategy<Attack> {
    let method = operation.method.clone();
    let body = match &operation.body {
        Some(example) => option::weighted(0.95, body(example, &operation.fields)).boxed(),
        // An operation without a body may get one anyway.
        None => option::weighted(0.1, any_json()).boxed(),
    };
    (path(&operation.path), query(&operation.query), authorization(), headers(), body)
        .prop_map(move |(mut target, query, authorization, mut headers, body)| {
            if !query.is_empty() {
                target.push(b'?');
                target.extend(query);
            }
            let authorized = authorization.as_deref() == Some(format!("Bearer {KEY}").as_bytes());
            headers.extend(authorization.map(|value| ("Authorization", value)));
            Attack { method: method.clone(), target, authorized, headers, body }
        })
        .boxed()
}

fn bytes(text: impl Into<String>) -> Bytes {
    text.into().into_bytes()
}

fn one_of(texts: &[&str]) -> BoxedStrategy<Bytes> {
    select(texts.iter().map(|text| bytes(*text)).collect::<Vec<_>>()).boxed()
}

// --- the address ---

/// The path with its parameters filled in, mostly with real identifiers.
fn path(template: &str) -> BoxedStrategy<Bytes> {
    let mut before = "";
    let mut segments: Vec<BoxedStrategy<Bytes>> = Vec::new();
    for segment in template.split('/').skip(1) {
        segments.push(match segment.strip_prefix('{') {
            None => Just(bytes(segment)).boxed(),
            Some(_) => {
                let real = match before {
                    "agents" => AGENT,
                    "calendars" => CALENDAR,
                    "events" => EVENT,
                    _ => "thing_00000000000000000000000000",
                };
                prop_oneof![6 => Just(bytes(real)), 1 => odd_segment()].boxed()
            }
        });
        before = segment;
    }
    segments
        .prop_map(|segments| segments.iter().flat_map(|segment| [b"/", segment.as_slice()].concat()).collect())
        .boxed()
}

fn odd_segment() -> BoxedStrategy<Bytes> {
    prop_oneof![
        4 => one_of(&[
            "", ".", "..", "%2e%2e", "%2F", "%2f..%2f", "%00", "%ff", "%c3%28", "%zz", "%", "%4", "@", "*", "~", ";a=b",
            "agt_", "cal_", "evt_", "agt_00000000000000000000000000", "cal_7zzzzzzzzzzzzzzzzzzzzzzzzz",
            "evt_8zzzzzzzzzzzzzzzzzzzzzzzzz", "EVT_00000000000000000000000000", "agt_0000000000000000000000000",
            "agt_000000000000000000000000000", "agt_0000000000000000000000000u", "agt_%30%30000000000000000000000000",
            "'%20or%20'1'='1", "%F0%9F%93%85", "undefined", "null", "-1", "0x10", FOREIGN_AGENT, AGENT, CALENDAR, EVENT,
        ]),
        1 => (1_000usize..30_000).prop_map(|length| vec![b'a'; length]),
        1 => "[a-zA-Z0-9_.~%!$&'()*+,;=:@-]{0,40}".prop_map(bytes),
    ]
    .boxed()
}

/// The query: mostly valid parameters, with one odd thing among them.
fn query(parameters: &[Parameter]) -> BoxedStrategy<Bytes> {
    let own: Vec<BoxedStrategy<Option<Bytes>>> = parameters.iter().map(parameter).collect();
    let odd = prop_oneof![
        12 => Just(None),
        3 => one_of(&[
            "frobnicate=1", "=", "=1", "&&&", "%00=1", "a%00b=1", "%ff=%fe", "%zz=%", "limit", "limit=1&limit=2",
            "LIMIT=1", "limit[]=1", "limit%5B0%5D=1", "start.end=1", "__proto__=1", "?", "a=%F0%9F%93%85",
        ]).prop_map(Some),
        1 => (60usize..300).prop_map(|count| Some(bytes(vec!["limit=1"; count].join("&")))),
        1 => (1_000usize..30_000).prop_map(|length| Some([b"limit=".to_vec(), vec![b'9'; length]].concat())),
    ];
    (own, odd).prop_map(|(own, odd)| own.into_iter().flatten().chain(odd).collect::<Vec<_>>().join(&b'&')).boxed()
}

fn parameter(parameter: &Parameter) -> BoxedStrategy<Option<Bytes>> {
    let Parameter { name, required, value } = parameter.clone();
    let given = prop_oneof![4 => Just(bytes(value)), 2 => odd_parameter()];
    option::weighted(if required { 0.95 } else { 0.3 }, given)
        .prop_map(move |value| value.map(|value| [name.as_bytes(), b"=", &value].concat()))
        .boxed()
}

fn odd_parameter() -> BoxedStrategy<Bytes> {
    prop_oneof![
        6 => one_of(&[
            "", "%20", "+", "%00", "%ff", "%c3%28", "%zz", "%", "-1", "-0", "0", "1", "200", "201", "1e3", "0x10", "1.0",
            "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "18446744073709551616", "99999999999999999999999999", "NaN", "true", "TRUE", "false", "null", "all", "{}", "[]",
            "15m", "2h", "0m", "-30m", "1d", "confirmed", "hold", "external_ical", "api", "ai", "paused", "active",
            "2027-03-15", "2027-03-15T00:00:00", "2027-03-15T00:00:00Z", "2027-03-20T00:00:00Z",
            "2027-03-15T00:00:00+01:00", "2027-03-15T00:00:00%2B01:00", "2027-03-15T00:00:00%2B99:99",
            "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2099-12-31T23:59:59.999999Z", "2100-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z", "-0001-01-01T00:00:00Z", "2027-02-29T00:00:00Z", "2027-03-15T24:00:00Z",
            "2027-03-15T23:59:60Z", "2027-03-15T00:00:00.1234567890123456789Z", "2027-W11-1T00:00:00Z",
            "%E2%82%AC", "a=b=c", ",", ",,,", AGENT, CALENDAR, FOREIGN_AGENT, "@agent@,@agent@", "@agent@,",
            "@agent@,@foreign-agent@", "@agent@%00", "%20@agent@%20",
        ]),
        1 => (1_000usize..30_000).prop_map(|length| vec![b'a'; length]),
        1 => (2usize..1_200).prop_map(|count| bytes(vec![AGENT; count].join(","))),
        1 => any::<i64>().prop_map(|number| bytes(number.to_string())),
        1 => time().prop_map(|time| bytes(time.replace('+', "%2B").replace(' ', "%20"))),
    ]
    .boxed()
}

// --- the headers ---

fn authorization() -> BoxedStrategy<Option<Bytes>> {
    prop_oneof![
        20 => Just(Some(bytes(format!("Bearer {KEY}")))),
        1 => Just(None),
        2 => one_of(&[
            "", "Bearer", "Bearer ", "Bearer  ", "Basic @key@", "@key@", "Bearer svc_sk_", "Bearer svc_ak_x",
            "Bearer @key@x", "Bearer @key@, Bearer @key@", "Bearer svc_sk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "Bearer @agent@", "Bearer null", "Negotiate abc==",
        ]).prop_map(Some),
        1 => (1usize..8_000).prop_map(|length| Some([b"Bearer svc_sk_".to_vec(), vec![b'a'; length]].concat())),
        1 => vec(0x80u8..=0xff, 1..60).prop_map(|junk| Some([b"Bearer svc_sk_".to_vec(), junk].concat())),
    ]
    .boxed()
}

fn headers() -> BoxedStrategy<Vec<(&'static str, Bytes)>> {
    let media_type = prop_oneof![
        12 => Just(Some(bytes("application/json"))),
        1 => Just(None),
        2 => one_of(&[
            "", "text/plain", "application/json; charset=utf-16", "application/json;charset=\"", "APPLICATION/JSON",
            "application/problem+json", "application/", "/", "*/*", "multipart/form-data; boundary=x", "application/xml",
            "application/x-www-form-urlencoded", "application/json, text/plain", "\u{ff}",
        ]).prop_map(Some),
    ];
    let condition = prop_oneof![
        12 => Just(None),
        3 => one_of(&[
            "*", "\"1\"", "\"2\"", "W/\"1\"", "\"1\", \"2\"", "1", "\"", "\"\"", "", ",", "\"1\",", "*, \"1\"", "\"-1\"",
            "\"99999999999999999999\"", "\"9223372036854775808\"", "W/", "\"a\"b\"", "\u{e9}", "\"1\",\"1\",\"1\",\"1\",\
             \"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\"",
        ]).prop_map(Some),
    ];
    let idempotency = prop_oneof![
        12 => Just(None),
        2 => one_of(&["a", "b", "", " ", "\"quoted\"", "\u{e9}", "a\tb", "%00"]).prop_map(Some),
        1 => select(vec![254usize, 255, 256, 5_000]).prop_map(|length| Some(vec![b'k'; length])),
        1 => "[ -~]{1,40}".prop_map(|key| Some(bytes(key))),
    ];
    let other = prop_oneof![
        12 => Just(None),
        3 => select(vec![
            ("X-Request-Id", "req_mine"),
            ("X-Forwarded-For", "'; drop table events; --"),
            ("Accept", "image/png"),
            ("Accept", "*/*;q=0"),
            ("Accept-Encoding", "identity;q=0"),
            ("Accept-Encoding", "br;q=x, , ;;"),
            ("Content-Encoding", "gzip"),
            ("Expect", "100-continue"),
            ("Expect", "the unexpected"),
            ("If-None-Match", "\"1\", W/\"2\", *"),
            ("If-Modified-Since", "yesterday"),
            ("Range", "bytes=0-0,5-1"),
            ("Cookie", "service_session=x; ; =; a"),
            ("Origin", "null"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("Upgrade", "websocket"),
            ("Host", "evil.example"),
        ]).prop_map(|(name, value)| Some((name, bytes(value)))),
    ];
    (media_type, condition, idempotency, other)
        .prop_map(|(media_type, condition, idempotency, other)| {
            let named = [("Content-Type", media_type), ("If-Match", condition), ("Idempotency-Key", idempotency)];
            named.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(other).collect()
        })
        .boxed()
}

// --- the body ---

/// A body of the right shape with something odd in it, or of no valid shape.
fn body(example: &Value, fields: &[String]) -> BoxedStrategy<Bytes> {
    let example_bytes = example.to_string().into_bytes();
    let length = example_bytes.len();
    let (broken, torn, salted) = (example_bytes.clone(), example_bytes.clone(), example_bytes.clone());
    Union::new_weighted(vec![
        (2, Just(example_bytes).boxed()),
        (14, mutated(example, fields)),
        (2, any_json()),
        (1, (0..length).prop_map(move |at| broken[..at].to_vec()).boxed()),
        (1, (0..length, any::<u8>()).prop_map(move |(at, byte)| replaced(&torn, at, &[byte])).boxed()),
        (1, (0..length, odd_bytes()).prop_map(move |(at, odd)| replaced(&salted, at, &odd)).boxed()),
    ])
    .boxed()
}

fn replaced(example_bytes: &[u8], at: usize, by: &[u8]) -> Bytes {
    [&example_bytes[..at], by, &example_bytes[at + 1..]].concat()
}

/// The example with odd values in some places, and with additional, missing and repeated members.
fn mutated(example: &Value, fields: &[String]) -> BoxedStrategy<Bytes> {
    let mut places = Vec::new();
    pointers(example, &mut String::new(), &mut places);
    let replace = vec((select(places), fragment(), 0u8..10), 0..3);
    let names = fields.iter().map(|name| bytes(format!("\"{name}\""))).collect::<Vec<_>>();
    let name = match names.is_empty() {
        true => odd_name(),
        false => prop_oneof![6 => select(names), 1 => odd_name()].boxed(),
    };
    let add = vec((name, fragment()), 0..3);
    let example = example.clone();
    (replace, add)
        .prop_map(move |(replace, add)| {
            let mut value = example.clone();
            let mut holes = Vec::new();
            for (pointer, fragment, way) in replace {
                match (way, pointer.rsplit_once('/')) {
                    (0, Some((parent, key))) => {
                        if let Some(Value::Object(members)) = value.pointer_mut(parent) {
                            members.remove(key);
                        }
                    }
                    _ => {
                        if let Some(place) = value.pointer_mut(&pointer) {
                            *place = Value::String(format!("{HOLE}{}", holes.len()));
                            holes.push(fragment);
                        }
                    }
                }
            }
            let mut text = match (&value, add.is_empty()) {
                (Value::Object(members), false) => with_members(members, &add),
                _ => value.to_string().into_bytes(),
            };
            for (index, fragment) in holes.iter().enumerate() {
                text = substituted(&text, format!("\"{HOLE}{index}\"").as_bytes(), fragment);
            }
            text
        })
        .boxed()
}

/// Writes additional members in front of an object's own. A name that the object already has then occurs twice.
fn with_members(members: &Map<String, Value>, add: &[(Bytes, Bytes)]) -> Bytes {
    let mut text = b"{".to_vec();
    for (name, value) in add {
        text.extend([name.as_slice(), b":", value, b","].concat());
    }
    let rest = Value::Object(members.clone()).to_string();
    if members.is_empty() {
        text.pop();
    }
    text.extend(&rest.as_bytes()[1..]);
    text
}

/// The pointers to every value below the root.
fn pointers(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    let mut visit = |key: &str, inner: &Value, at: &mut String| {
        at.push('/');
        at.push_str(key);
        found.push(at.clone());
        pointers(inner, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, inner)| visit(key, inner, at)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, inner)| visit(&index.to_string(), inner, at)),
        _ => {}
    }
}

/// Replaces the first occurrence of `mark`.
fn substituted(text: &[u8], mark: &[u8], by: &[u8]) -> Bytes {
    match text.windows(mark.len()).position(|window| window == mark) {
        Some(at) => [&text[..at], by, &text[at + mark.len()..]].concat(),
        None => text.to_vec(),
    }
}

fn odd_name() -> BoxedStrategy<Bytes> {
    prop_oneof![
        3 => one_of(&[
            r#""""#, r#""frobnicate""#, r#""titel""#, r#""startTime""#, r#""__proto__""#, r#""a.b[0]""#, r#""\u0000""#,
            r#""\ud800""#, r#""id""#, r#""org_id""#, r#""Title""#, r#""na\u006de""#, r#""`""#, r#""a`b`c""#, "1", "null", "{}",
        ]),
        1 => (100usize..50_000).prop_map(|length| [b"\"".to_vec(), vec![b'x'; length], b"\"".to_vec()].concat()),
    ]
    .boxed()
}

/// A document that has nothing to do with the operation.
fn any_json() -> BoxedStrategy<Bytes> {
    prop_oneof![
        3 => fragment(),
        2 => one_of(&[
            "", " ", "\n\n", "{}", "[]", "{", "}", "[", "]", "\"", "{\"\":", "{\"a\":1,}", "[1,]", "{}{}", "{} x",
            "// x\n{}", "{'a':1}", "nul", "NaN", "-", "01", "1.", ".5", "+1", "\u{feff}{}", "<xml/>", "a=b&c=d", "\0", "{}\0",
        ]),
        1 => vec(any::<u8>(), 0..300),
        1 => tree(),
    ]
    .boxed()
}

/// A JSON value, a few levels deep.
fn tree() -> BoxedStrategy<Bytes> {
    scalar()
        .prop_recursive(6, 64, 6, |inner| {
            let join = |parts: Vec<Bytes>| parts.join(&b',');
            prop_oneof![
                vec(inner.clone(), 0..6).prop_map(move |items| [b"[", join(items).as_slice(), b"]"].concat()),
                vec((text(), inner), 0..6).prop_map(move |members| {
                    let members = members.into_iter().map(|(name, value)| [name, b":".to_vec(), value].concat());
                    [b"{", join(members.collect()).as_slice(), b"}"].concat()
                }),
            ]
        })
        .boxed()
}

/// A value that replaces an expected one.
fn fragment() -> BoxedStrategy<Bytes> {
    prop_oneof![
        8 => scalar(),
        2 => tree(),
        1 => deep(),
        1 => long(),
        1 => odd_bytes(),
        1 => one_of(&[
            "{\"a\":1,\"a\":2}", "{\"\":{\"\":{}}}", "{\"\\u0000\":1}", "{\"a\":1e400}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\u0000\"}",
            "[10,10,10]", "[1,2,3,4,5,6]", "[0]", "[40320]", "[40321]", "[-1]", "[1.5]", "[\"1\"]", "[null]", "[[]]", "[{}]",
            "[9223372036854775807]", "[9223372036854775808]", "{\"$serde_json::private::Number\":\"1\"}",
            "{\"$serde_json::private::RawValue\":\"{}\"}",
        ]),
    ]
    .boxed()
}

fn scalar() -> BoxedStrategy<Bytes> {
    prop_oneof![
        2 => one_of(&["null", "true", "false"]),
        3 => one_of(&[
            "0", "-0", "-0.0", "1", "-1", "1.5", "1e3", "1e-3", "1e400", "-1e400", "1e-400", "0e99999", "1E+2", "2147483648",
            "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
            "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211456", "0.1e1",
            "123456789012345678901234567890123456789012345678901234567890.123456789",
        ]),
        1 => any::<i64>().prop_map(|number| bytes(number.to_string())),
        1 => any::<f64>().prop_filter("JSON cannot represent the others", |number| number.is_finite())
            .prop_map(|number| bytes(format!("{number:e}"))),
        6 => text(),
    ]
    .boxed()
}

/// A quoted string.
fn text() -> BoxedStrategy<Bytes> {
    let quoted = |text: String| Value::String(text).to_string().into_bytes();
    prop_oneof![
        6 => one_of(&[
            r#""""#, r#"" ""#, r#""\u0000""#, r#""a\u0000b""#, r#""\ud800""#, r#""\udc00\ud800""#, r#""\ud83d""#,
            r#""\ud83d\ude00""#, r#""\uFFFF""#, r#""\ufffe""#, r#""\u202e""#, r#""\u00""#, r#""\x""#, r#""\u0007\t""#,
            r#""e\u0301""#, r#""\\""#, r#""\/""#, r#""`""#, r#""a `b` c""#, r#""{}""#, r#""%s%n""#, r#""'; drop table events; --""#,
            r#""ai""#, r#""AI""#, r#""human""#, r#""resource""#, r#""active""#, r#""paused""#, r#""decommissioned""#,
            r#""confirmed""#, r#""tentative""#, r#""cancelled""#, r#""hold""#, r#""idle""#, r#""error""#, r#""UTC""#,
            r#""Europe/Berlin""#, r#""europe/berlin""#, r#""Etc/GMT+14""#, r#""America/Argentina/ComodRivadavia""#,
            r#""../../etc/passwd""#, r#""Factory""#, r#""+01:00""#, r#""a@b.example""#, r#""a@""#, r#""\"a b\"@x.example""#,
            r#""a@xn--.example""#, r#""a@b..example""#, r#""123456""#, r#""2026-01-01""#, r#""@agent@""#, r#""@calendar@""#,
        ]),
        3 => any::<String>().prop_map(quoted),
        3 => time().prop_map(quoted),
    ]
    .boxed()
}

/// A time, or something similar.
fn time() -> BoxedStrategy<String> {
    let number = |from: i32, to: i32| prop_oneof![4 => from..=to, 1 => -1..=from, 1 => to..=99];
    let offset =
        select(vec!["Z", "z", "", "+00:00", "-00:00", "+05:30", "-23:59", "+24:00", "+99:99", "+0100", " UTC"]);
    let fraction = select(vec!["", ".5", ".123456", ".1234567", ".", ",5", ".000000000000000000000000000001"]);
    let year = prop_oneof![4 => 1970..=2099i32, 1 => 0..=9999i32, 1 => any::<i32>()];
    let separator = select(vec!["T", "T", "T", "t", " ", "", "_"]);
    (year, number(1, 12), number(1, 31), separator, number(0, 23), number(0, 59), number(0, 59), fraction, offset)
        .prop_map(|(year, month, day, separator, hour, minute, second, fraction, offset)| match separator {
            "" => format!("{year:04}-{month:02}-{day:02}"),
            _ => format!("{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}{fraction}{offset}"),
        })
        .boxed()
}

/// Nested arrays, objects, or both.
fn deep() -> BoxedStrategy<Bytes> {
    let depth = prop_oneof![select(vec![31usize, 32, 33, 126, 127, 128, 129, 200]), 1usize..200];
    (depth, 0u8..3, any::<bool>())
        .prop_map(|(depth, kind, closed)| {
            let open = ["[", "{\"a\":", "[{\"a\":"][usize::from(kind)];
            let close = ["]", "}", "}]"][usize::from(kind)];
            let end = if closed { close.repeat(depth) } else { String::new() };
            bytes(format!("{}1{end}", open.repeat(depth)))
        })
        .boxed()
}

/// Strings, numbers, arrays and objects of up to about 100 KB.
fn long() -> BoxedStrategy<Bytes> {
    let length = prop_oneof![select(vec![255usize, 256, 500, 501, 5_000, 5_001, 20_000, 20_001]), 1_000usize..150_000];
    (length, 0u8..7)
        .prop_map(|(length, kind)| {
            bytes(match kind {
                0 => format!("\"{}\"", "x".repeat(length)),
                1 => format!("\"{}\"", "é".repeat(length / 2)),
                2 => format!("\"{}\"", "\\u0001".repeat(length / 6)),
                3 => "9".repeat(length.min(5_000)),
                4 => format!("[{}1]", "1,".repeat(length / 2)),
                5 => format!("{{{}\"z\":1}}", (0..length / 12).map(|n| format!("\"k{n}\":{n},")).collect::<String>()),
                _ => format!("{{\"a\":\"{}\"}}", "x".repeat(length)),
            })
        })
        .boxed()
}

/// Bytes that are not UTF-8, or that JSON does not allow unescaped.
fn odd_bytes() -> BoxedStrategy<Bytes> {
    select(vec![
        b"\"\xff\"".to_vec(),
        b"\"\xc3\x28\"".to_vec(),
        b"\"\xed\xa0\x80\"".to_vec(),
        b"\"\xf4\x90\x80\x80\"".to_vec(),
        b"\"\xc0\x80\"".to_vec(),
        b"\"\x00\"".to_vec(),
        b"\"\n\"".to_vec(),
        b"\"\x7f\"".to_vec(),
        b"\xff\xfe{\x00}\x00".to_vec(),
        b"\x00".to_vec(),
    ])
    .boxed()
}
