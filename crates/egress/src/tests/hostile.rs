//! Hundreds of URLs that must never be connected to: as a caller sends them, as a store may hold them, and as a server
//! redirects to them.

use std::collections::BTreeSet;

use kalends_remote::RemoteUrl;
use rstest::rstest;

use super::support::{Server, Stage, Trap};
use crate::{EgressError, Exchange, NotAllowed, RedirectFault};

/// Hosts that are refused as written, without a look-up.
const HOSTS: &[&str] = &[
    // Loopback, in every notation of IPv4.
    "127.0.0.1",
    "127.0.0.2",
    "127.0.0.53",
    "127.1.2.3",
    "127.255.255.255",
    "127.0.0.0",
    "127.1",
    "127.0.1",
    "127.0x1",
    "127.0.0x1",
    "127.00000000000000000001",
    "127.65535",
    "127.16777215",
    "2130706433",
    "2130706434",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "0x7f.0.1",
    "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0x7F.0X0.0X0.0X1",
    "0177.1",
    "0177.0.1",
    "0177.0.0.1",
    "0177.00.00.01",
    "00000177.0.0.1",
    "017700000001",
    "0x7f.0.0.01",
    "127.0.0.01",
    "127.000.000.001",
    "127.0.0.1.",
    "127.1.",
    "0x7f.1.",
    "2130706433.",
    "0x00000000000000007f000001",
    "127.0.0.0x1",
    "127.0.0.0x01",
    "0177.0x0.0.1",
    // The unspecified address, which the machine treats as its own.
    "0",
    "0.0.0.0",
    "0.0.0.1",
    "0.1",
    "0x0",
    "00",
    "0x",
    "0.0",
    "0.0.0",
    "0.0.0.0.",
    "000000000000",
    "0.255.255.255",
    "0x0.0x0.0x0.0x0",
    // Private networks.
    "10.0.0.0",
    "10.0.0.1",
    "10.1.2.3",
    "10.255.255.255",
    "10.1",
    "10.0.1",
    "167772161",
    "0x0a000001",
    "0xa.0.0.1",
    "012.0.0.1",
    "012.1",
    "0x0A.0x00.0x00.0x01",
    "01200000001",
    "172.16.0.0",
    "172.16.0.1",
    "172.17.0.1",
    "172.20.10.1",
    "172.31.255.255",
    "172.1048577",
    "2886729729",
    "0xac100001",
    "0xac.0x10.0.1",
    "0254.020.0.1",
    "192.168.0.0",
    "192.168.0.1",
    "192.168.1.1",
    "192.168.255.255",
    "192.168.1",
    "192.11010049",
    "3232235521",
    "0xc0a80001",
    "0xc0.0xa8.0.1",
    "0300.0250.0.1",
    "030052000001",
    "192.168.49.2",
    // Shared and link-local networks, and the addresses at which clouds serve credentials.
    "100.64.0.0",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "0x64646464.",
    "1684301000",
    "0144.0144.0144.0310",
    "168.63.129.16",
    "2822734096",
    "169.254.0.0",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "169.254.169.253",
    "169.254.255.255",
    "2852039166",
    "0xa9fea9fe",
    "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.43518",
    "169.16689662",
    "169.254.169.254.",
    "192.0.0.192",
    "192.0.0.8",
    "192.0.0.170",
    // Documentation, benchmarking, relays, multicast, reserved classes, broadcast.
    "192.0.2.0",
    "192.0.2.1",
    "192.0.2.255",
    "198.51.100.1",
    "198.51.100.255",
    "203.0.113.1",
    "203.0.113.255",
    "198.18.0.0",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
    "192.88.99.255",
    "224.0.0.0",
    "224.0.0.1",
    "224.0.0.251",
    "232.1.1.1",
    "239.255.255.250",
    "239.255.255.255",
    "240.0.0.0",
    "240.0.0.1",
    "250.1.2.3",
    "255.255.255.254",
    "255.255.255.255",
    "4294967295",
    "0xffffffff",
    "037777777777",
    "0xff.0xff.0xff.0xff",
    "3758096385",
    // A number that does not fit into 32 bits is not an address, even if some programs accept it.
    "4294967296",
    "0x100000000",
    "256.0.0.1",
    "127.0.0.256",
    "1.2.3.4.5",
    "127.0.0.1.1",
    "0x7f.0.0.0.1",
    "08.0.0.1",
    "127.0.0.09",
    "127..0.1",
    ".127.0.0.1",
    "127.0.0.1..",
    "0xg",
    "1e3.1.1.1e3",
    "0x1ffffffff",
    "127.-1",
    "99999999999999999999",
    // Other digits and dots: full width, circled, bold, superscript, subscript, ideographic, half width.
    "１２７.0.0.1",
    "127.0.0.１",
    "１２７．０．０．１",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "①②⑦.⓪.⓪.①",
    "①②⑦.0.0.1",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "𝟙𝟚𝟟.𝟘.𝟘.𝟙",
    "𝟷𝟸𝟽.0.0.1",
    "¹²⁷.⁰.⁰.¹",
    "₁₂₇.₀.₀.₁",
    "２１３０７０６４３３",
    "０ｘ７ｆ０００００１",
    "0ｘ7f.1",
    "１６９.２５４.１６９.２５４",
    "169。254。169。254",
    "⑯⑨.②⑤④.①⑥⑨.②⑤④",
    "１０.0.0.1",
    "192。168｡0．1",
    "127\u{ad}.0.0.1",
    "1\u{200b}27.0.0.1",
    "127.0.0.\u{2060}1",
    "127.0.0.1\u{3002}",
    "\u{feff}127.0.0.1",
    "127.0.0.1\u{ad}",
    // Percent-encoded.
    "%31%32%37.0.0.1",
    "%31%32%37%2e%30%2e%30%2e%31",
    "127%2e0%2e0%2e1",
    "127.0.0.1%2e",
    "%30",
    "%32%31%33%30%37%30%36%34%33%33",
    "0%787f%2e1",
    "%30%78%37%66%2e%31",
    "%6c%6f%63%61%6c%68%6f%73%74",
    "loc%61lhost",
    "%4c%4f%43%41%4c%48%4f%53%54",
    "localhost%2e",
    "127.0.0.1%00",
    "127.0.0.1%20",
    "127.0.0.1%2f",
    "127.0.0.1%23",
    "127.0.0.1%3a80",
    "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
    "127%E3%80%820%E3%80%820%E3%80%821",
    "%5b::1%5d",
    "%5B%3A%3A1%5D",
    "127.0.0.1%09",
    "%2531%2532%2537.0.0.1",
    "example.com%2f@127.0.0.1",
    // IPv6: loopback, and embedded IPv4.
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[0::1]",
    "[::0:1]",
    "[0:0::0:1]",
    "[::0.0.0.1]",
    "[0:0:0:0:0:0:0:0]",
    "[0::0]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::10.0.0.1]",
    "[::169.254.169.254]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:7f00:0001]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[0000:0000:0000:0000:0000:ffff:7f00:0001]",
    "[::ffff:0.0.0.0]",
    "[::ffff:10.0.0.1]",
    "[::ffff:a00:1]",
    "[::ffff:172.16.0.1]",
    "[::ffff:192.168.0.1]",
    "[::ffff:c0a8:1]",
    "[::ffff:100.64.0.1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:168.63.129.16]",
    "[::ffff:224.0.0.1]",
    "[::ffff:255.255.255.255]",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:0:10.0.0.1]",
    "[::fffe:7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::0.0.0.0]",
    "[0064:ff9b:0:0:0:0:c0a8:0001]",
    "[64:ff9b::1:7f00:1]",
    "[64:ff9b:1::1]",
    "[64:ff9b:1::8.8.8.8]",
    "[64:ff9b:1:7f00:0:100::]",
    "[2002:7f00:1::]",
    "[2002:7f00:1::1]",
    "[2002:a00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2002:c0a8:1::1]",
    "[2002:808:808::1]",
    "[2001::1]",
    "[2001:0:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2001:0:0:0:0:0:80ff:fffe]",
    "[2606:4700::5efe:127.0.0.1]",
    "[2606:4700::5efe:a00:1]",
    "[2606:4700::200:5efe:192.168.0.1]",
    // IPv6: everything else that is not public.
    "[100::1]",
    "[100:0:0:1::1]",
    "[2001:2::1]",
    "[2001:2:0:ffff::1]",
    "[2001:1::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[2001:DB8::1]",
    "[2001:db8:ffff::1]",
    "[3fff::1]",
    "[3fff:fff::1]",
    "[5f00::1]",
    "[4000::1]",
    "[8000::1]",
    "[f000::1]",
    "[200::1]",
    "[400::1]",
    "[fc00::1]",
    "[fd00::1]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]",
    "[fe00::1]",
    "[fe80::1]",
    "[fe80::a9fe:a9fe]",
    "[febf::1]",
    "[fec0::1]",
    "[feff::1]",
    "[ff00::1]",
    "[ff01::1]",
    "[ff02::1]",
    "[ff02::fb]",
    "[ff05::1:3]",
    "[ff0e::1]",
    "[ffff::1]",
    // Zones, brackets, and invalid IPv6 addresses.
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1%25lo]",
    "[::1%lo]",
    "[fe80::1%251]",
    "[::1%00]",
    "[::1",
    "::1",
    "::1]",
    "[[::1]]",
    "[]",
    "[127.0.0.1]",
    "[localhost]",
    "[::1].",
    "[::1]a",
    "[v1.fe80::a+en1]",
    "[1:2:3:4:5:6:7:8:9]",
    "[::ffff:127.0.0.1.]",
    "[::ffff:0x7f.1]",
    "[:::1]",
    "[::1::]",
    "[:1]",
    "[::127.1]",
    // Names of the machine and its networks.
    "localhost",
    "LOCALHOST",
    "LocalHost",
    "localhost.",
    "a.localhost",
    "a.b.c.localhost",
    "x.LOCALHOST.",
    "ｌｏｃａｌｈｏｓｔ",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭",
    "loc\u{ad}alhost",
    "local\u{200b}host",
    "LOCALHO\u{17f}T",
    "localhost。",
    "a。localhost",
    "localhost.localdomain",
    "localhost6.localdomain6.localdomain",
    "ip6-localhost",
    "localhost4",
    "broadcasthost",
    "printer.local",
    "PRINTER.LOCAL.",
    "host.docker.internal",
    "gateway.docker.internal",
    "metadata.google.internal",
    "METADATA.Google.Internal.",
    "metadata",
    "instance-data.ec2.internal",
    "ip-10-0-0-1.ec2.internal",
    "kubernetes",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "redis",
    "postgres",
    "router.lan",
    "nas.home",
    "router.home.arpa",
    "home.arpa",
    "wiki.corp",
    "db.intranet",
    "intranet",
    "vault.service.consul",
    "db.private",
    "a.docker",
    "internal",
    "local",
    "wpad",
    "wpad.corp",
    "ｉｎｔｅｒｎａｌ",
    // Invalid names.
    "",
    ".",
    "..",
    "...",
    "example..com",
    ".example.com",
    "example.com..",
    "exa mple.com",
    "exa\tmple.com",
    "exa\nmple.com",
    "exa\rmple.com",
    "exa\0mple.com",
    "example.com\\",
    "example.com\\.internal",
    "example.com\u{7f}",
    "exa<mple.com",
    "exa>mple.com",
    "exa^mple.com",
    "exa|mple.com",
    "example.com%",
    "example.com%0d%0a",
    "%",
    "%zz.com",
    "xn--",
    "xn--a.com",
    "xn--a-.com",
    "xn--localhost-.com",
    "xn--0.pt",
    "\u{fffd}.com",
    "a\u{202e}.com",
    "\u{200d}.com",
    // Credentials and similar syntax.
    "ada@example.com",
    "ada:secret@example.com",
    ":@example.com",
    "@example.com",
    "@",
    "127.0.0.1@example.com",
    "example.com@127.0.0.1",
    "example.com:443@127.0.0.1",
    "example.com%40127.0.0.1",
    "example.com\\@127.0.0.1",
    "ada@@example.com",
    "example.com＠127.0.0.1",
    "[::1]@example.com",
    "ada%40corp@example.com",
    "example.com;@127.0.0.1",
    "127.0.0.1 @example.com",
    "127.0.0.1\t@example.com",
    "example.com&@127.0.0.1#@example.org",
    // Ports.
    "example.com:0",
    "example.com:65536",
    "example.com:99999999999",
    "example.com:-1",
    "example.com:+443",
    "example.com:4 43",
    "example.com:443:443",
    "example.com:http",
    "example.com:0x1bb",
    "example.com:４４３",
    "example.com:%34%34%33",
    "127.0.0.1:443",
    "127.0.0.1:22",
    "127.0.0.1:6379",
    "[::1]:5432",
    "localhost:80",
    "localhost:2375",
    "169.254.169.254:80",
    "10.0.0.1:65535",
    "0:8080",
    "127.0.0.1:",
];

/// Whole URLs that are refused because of their scheme or shape.
const URLS: &[&str] = &[
    "",
    " ",
    "/",
    "//",
    "?",
    "#",
    "https",
    "https:",
    "https:/",
    "https://",
    "https:///",
    "https://?",
    "https://#",
    "https://:443",
    "https://:443/",
    "://example.com/",
    "//example.com/",
    "/hook",
    "hook",
    "example.com",
    "example.com:443",
    "example.com/hook",
    "http://example.com/",
    "HTTP://example.com/",
    "http://example.com:443/",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://1.1.1.1/",
    "ftp://example.com/",
    "ftps://example.com/",
    "sftp://example.com/",
    "tftp://example.com/",
    "ws://example.com/",
    "wss://example.com/",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "file:/etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stats",
    "ldap://127.0.0.1/",
    "ldaps://127.0.0.1/",
    "data:text/calendar,BEGIN:VCALENDAR",
    "javascript:alert(1)",
    "jar:https://example.com!/",
    "view-source:https://example.com/",
    "blob:https://example.com/a",
    "about:blank",
    "mailto:ada@example.com",
    "tel:+1",
    "urn:x:y",
    "webcal://example.com/feed.ics",
    "https:example.com",
    "https:/example.com",
    "https:\\\\example.com",
    "https:\\example.com",
    "https:///example.com\\@127.0.0.1",
    "https:////127.0.0.1/",
    "https:///127.0.0.1/",
    "https:///localhost",
    "https:///[::1]/",
    "\thttps://example.com/",
    "\nhttps://example.com/",
    " https://example.com/",
    "https://example.com/ ",
    "https://example.com/\t",
    "https://example.com/\r\nX-Header:1",
    "https://example.com/\u{0}",
    "https://example.com/a b",
    "https://example.com/\u{a0}",
    "https://example.com/\u{3000}",
    "https://example.com/\u{2028}",
    "https://example.com/\u{85}",
    "h\nttps://example.com/",
    "ht\ttps://example.com/",
    "https\u{ff1a}//example.com/",
    "https:\u{ff0f}\u{ff0f}example.com/",
    "https://example.com\\..\\x",
    "https://example.com/\\",
    "\u{feff}https://example.com/",
    "https//example.com/",
    "httpss://example.com/",
    "xhttps://example.com/",
    "https+unix://example.com/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "unix:/var/run/docker.sock",
    "https://https://127.0.0.1/",
    "https://http://127.0.0.1/",
    "view:https://127.0.0.1",
    "url:https://127.0.0.1/",
    "<https://example.com/>",
    "\"https://example.com/\"",
    "https://127.0.0.1#@example.com/",
    "https://127.0.0.1?@example.com/",
    "https://127.0.0.1/@example.com",
    "https://127.0.0.1;example.com/",
    "https://127.0.0.1,example.com/",
    "https://[::1]?example.com",
    "https://localhost#example.com",
    "https://localhost/.example.com",
    "https://example.com#@127.0.0.1\\",
];

/// Names that anybody can register, and their addresses.
const NAMES: &[(&str, &str)] = &[
    ("localtest.example.com", "127.0.0.1"),
    ("127.0.0.1.nip.example.com", "127.0.0.1"),
    ("7f000001.rebind.example.com", "127.0.0.1"),
    ("10-0-0-1.dashed.example.com", "10.0.0.1"),
    ("www.10.0.0.1.xip.example.com", "10.0.0.1"),
    ("magic.example.com", "169.254.169.254"),
    ("six.example.com", "::1"),
    ("mapped.example.com", "::ffff:127.0.0.1"),
    ("nat64.example.com", "64:ff9b::7f00:1"),
    ("sixtofour.example.com", "2002:7f00:1::"),
    ("teredo.example.com", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
    ("compatible.example.com", "::127.0.0.1"),
    ("zero.example.com", "0.0.0.0"),
    ("unspecified.example.com", "::"),
    ("unique.example.com", "fd00:ec2::254"),
    ("link.example.com", "fe80::1"),
    ("group.example.com", "224.0.0.1"),
    ("broadcast.example.com", "255.255.255.255"),
    ("carrier.example.com", "100.100.100.200"),
    ("wire.example.com", "168.63.129.16"),
    ("mixed.example.com", "1.1.1.1,127.0.0.1"),
    ("mixed-first.example.com", "127.0.0.1,1.1.1.1"),
    ("mixed-six.example.com", "2606:4700:4700::1111,::1"),
    ("late.example.com", "1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,1.1.1.9,127.0.0.1"),
    ("bücher.example.com", "127.0.0.1"),
    ("Example.COM.", "192.168.0.1"),
    ("a.notlocalhost", "127.0.0.1"),
    ("127.0.0.1.example.com.", "127.0.0.1"),
    ("kubernetes.default", "10.96.0.1"),
    ("dead.example.com", ""),
];

/// All of them, on the default port and on the trap's port.
fn texts(trap: u16) -> BTreeSet<String> {
    let hosts = HOSTS.iter().flat_map(|host| [format!("https://{host}/"), format!("https://{host}:{trap}/x.ics?y=z")]);
    hosts.chain(URLS.iter().map(|url| (*url).to_owned())).collect()
}

async fn assert_refused(stage: &Stage, url: RemoteUrl, text: &str) {
    let exchange = Exchange { url, redirects: 5, ..stage.get("https://example.com/") };
    match stage.egress.send(exchange).await {
        Err(EgressError::NotAllowed(_)) => {}
        other => panic!("{text:?}: {other:?}"),
    }
}

#[tokio::test]
async fn hostile_urls_are_never_connected_to() {
    let distinct: BTreeSet<&str> = HOSTS.iter().chain(URLS).copied().collect();
    assert!(distinct.len() >= 300, "{}", distinct.len());
    let (trap, port) = Trap::everywhere();
    let stage = Stage::real(&[]);
    let accepted: Vec<String> =
        texts(port).into_iter().filter(|text| RemoteUrl::parse("url", text, |_, _| false).is_ok()).collect();
    assert_eq!(accepted, [""; 0], "as callers send them");
    for text in texts(port) {
        // The URL as a store may hold it, regardless of earlier checks.
        let Ok(url) = RemoteUrl::from_stored(&text) else { continue };
        // The URL parser corrects some of these URLs, which are public then.
        if url.recheck("url", |_, _| false).is_err() {
            assert_refused(&stage, url, &text).await;
        }
    }
    assert_eq!(stage.names.lookups(), [""; 0], "no name was looked up");
    assert_eq!((stage.recorder.requested(), stage.recorder.opened(), trap.sprung()), (0, 0, 0));
}

#[tokio::test]
async fn names_with_private_addresses_are_refused() {
    let (trap, port) = Trap::everywhere();
    let stage = Stage::real(&[]);
    for (name, addresses) in NAMES {
        let url = stage.url(&format!("https://{name}:{port}/"));
        let (ascii, _) = url.destination();
        stage.names.set(ascii, &[addresses]);
        let before = stage.names.lookups().len();
        let refused = stage.egress.send(Exchange { url: url.clone(), ..stage.get("https://example.com/") }).await;
        match refused.unwrap_err() {
            EgressError::NotAllowed(NotAllowed::Address(_)) if !addresses.is_empty() => {}
            EgressError::Resolve(_) if addresses.is_empty() => {}
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(stage.names.lookups()[before..], [format!("{ascii}.")], "looked up once, fully qualified");
    }
    assert_eq!((stage.recorder.opened(), trap.sprung()), (0, 0));
}

/// Every hostile URL as the target of a redirect.
#[tokio::test]
async fn redirects_to_hostile_urls_are_refused() {
    let (trap, port) = Trap::everywhere();
    let server = Server::plain(|arrived| {
        let location = arrived.path().strip_prefix("/to?").unwrap();
        let bytes: Vec<u8> = location
            .as_bytes()
            .chunks(2)
            .map(|hex| u8::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap())
            .collect();
        let mut answer = b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: ".to_vec();
        answer.extend(bytes);
        answer.extend(b"\r\n\r\n");
        answer
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let redirected = |location: &str| {
        let hex: String = location.bytes().map(|byte| format!("{byte:02x}")).collect();
        Exchange { redirects: 5, ..stage.get(&server.url(&format!("/to?{hex}"))) }
    };
    let mut count = 0;
    // A text without a scheme is relative to the server, and a line break would end the header.
    let is_absolute = |text: &str| {
        let scheme = text.trim().split_once("://").map_or("", |(scheme, _)| scheme);
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    };
    for text in texts(port).iter().filter(|text| is_absolute(text) && !text.contains(['\r', '\n', '\0'])) {
        // Blanks around a header's value are not part of it. The trimmed value is checked.
        if text.trim().parse::<http::Uri>().is_ok() && RemoteUrl::parse("url", text.trim(), |_, _| false).is_ok() {
            continue;
        }
        count += 1;
        match stage.egress.send(redirected(text)).await {
            Err(EgressError::Redirect(RedirectFault::NotAllowed(_))) => {}
            // These characters are not allowed in a header.
            Err(EgressError::Protocol(_)) if text.contains('\u{7f}') || text.contains('\t') => {}
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert!(count >= 300, "{count}");
    assert_eq!(stage.names.lookups(), [""; 0]);
    for (name, addresses) in NAMES.iter().filter(|(_, addresses)| !addresses.is_empty()) {
        let to = stage.url(&format!("https://{name}:{port}/"));
        stage.names.set(to.destination().0, &[addresses]);
        let refused = stage.egress.send(redirected(to.as_str())).await.unwrap_err();
        assert!(matches!(refused, EgressError::NotAllowed(NotAllowed::Address(_))), "{name}: {refused:?}");
    }
    assert_eq!(stage.recorder.opened(), server.connections());
    assert_eq!(trap.sprung(), 0);
}

/// Checks that the trap and the recorder work.
#[rstest]
#[case("127.0.0.1", "")]
#[case("127.0.0.7", "")]
#[case("inside.example.com", "127.0.0.1")]
#[tokio::test]
async fn connections_spring_the_trap_and_are_recorded(#[case] host: &str, #[case] addresses: &str) {
    let (trap, port) = Trap::everywhere();
    let stage = Stage::real(&[(host, port)]);
    stage.names.set(host, &[addresses]);
    let url = stage.url(&format!("http://{host}:{port}/"));
    let egress = std::sync::Arc::clone(&stage.egress);
    let exchange = Exchange { url, ..stage.get("https://example.com/") };
    let waiting = tokio::spawn(async move { egress.send(exchange).await });
    while stage.recorder.opened() == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    assert_eq!(trap.sprung(), 1);
}
