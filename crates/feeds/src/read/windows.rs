//! The names that Windows, Outlook and Exchange have for zones.

use kalends_time::Zone;

/// The zones of Windows, sorted by name: the data of territory 001 in CLDR's `windowsZones.xml`. The zones with a fixed
/// offset (`UTC-11`, `Dateline Standard Time`) are left out. Producers write them for clocks that change, and the feed's
/// own `VTIMEZONE` knows better.
const NAMES: &[(&str, &str)] = &[
    ("AUS Central Standard Time", "Australia/Darwin"),
    ("AUS Eastern Standard Time", "Australia/Sydney"),
    ("Afghanistan Standard Time", "Asia/Kabul"),
    ("Alaskan Standard Time", "America/Anchorage"),
    ("Alberta Standard Time", "America/Edmonton"),
    ("Aleutian Standard Time", "America/Adak"),
    ("Altai Standard Time", "Asia/Barnaul"),
    ("Arab Standard Time", "Asia/Riyadh"),
    ("Arabian Standard Time", "Asia/Dubai"),
    ("Arabic Standard Time", "Asia/Baghdad"),
    ("Argentina Standard Time", "America/Buenos_Aires"),
    ("Astrakhan Standard Time", "Europe/Astrakhan"),
    ("Atlantic Standard Time", "America/Halifax"),
    ("Aus Central W. Standard Time", "Australia/Eucla"),
    ("Azerbaijan Standard Time", "Asia/Baku"),
    ("Azores Standard Time", "Atlantic/Azores"),
    ("Bahia Standard Time", "America/Bahia"),
    ("Bangladesh Standard Time", "Asia/Dhaka"),
    ("Belarus Standard Time", "Europe/Minsk"),
    ("Bougainville Standard Time", "Pacific/Bougainville"),
    ("British Columbia Standard Time", "America/Vancouver"),
    ("Canada Central Standard Time", "America/Regina"),
    ("Cape Verde Standard Time", "Atlantic/Cape_Verde"),
    ("Caucasus Standard Time", "Asia/Yerevan"),
    ("Cen. Australia Standard Time", "Australia/Adelaide"),
    ("Central America Standard Time", "America/Guatemala"),
    ("Central Asia Standard Time", "Asia/Bishkek"),
    ("Central Brazilian Standard Time", "America/Cuiaba"),
    ("Central Europe Standard Time", "Europe/Budapest"),
    ("Central European Standard Time", "Europe/Warsaw"),
    ("Central Pacific Standard Time", "Pacific/Guadalcanal"),
    ("Central Standard Time", "America/Chicago"),
    ("Central Standard Time (Mexico)", "America/Mexico_City"),
    ("Chatham Islands Standard Time", "Pacific/Chatham"),
    ("China Standard Time", "Asia/Shanghai"),
    ("Cuba Standard Time", "America/Havana"),
    ("E. Africa Standard Time", "Africa/Nairobi"),
    ("E. Australia Standard Time", "Australia/Brisbane"),
    ("E. Europe Standard Time", "Europe/Chisinau"),
    ("E. South America Standard Time", "America/Sao_Paulo"),
    ("Easter Island Standard Time", "Pacific/Easter"),
    ("Eastern Standard Time", "America/New_York"),
    ("Eastern Standard Time (Mexico)", "America/Cancun"),
    ("Egypt Standard Time", "Africa/Cairo"),
    ("Ekaterinburg Standard Time", "Asia/Yekaterinburg"),
    ("FLE Standard Time", "Europe/Kiev"),
    ("Fiji Standard Time", "Pacific/Fiji"),
    ("GMT Standard Time", "Europe/London"),
    ("GTB Standard Time", "Europe/Bucharest"),
    ("Georgian Standard Time", "Asia/Tbilisi"),
    ("Greenland Standard Time", "America/Godthab"),
    ("Greenwich Standard Time", "Atlantic/Reykjavik"),
    ("Haiti Standard Time", "America/Port-au-Prince"),
    ("Hawaiian Standard Time", "Pacific/Honolulu"),
    ("India Standard Time", "Asia/Calcutta"),
    ("Iran Standard Time", "Asia/Tehran"),
    ("Israel Standard Time", "Asia/Jerusalem"),
    ("Jordan Standard Time", "Asia/Amman"),
    ("Kaliningrad Standard Time", "Europe/Kaliningrad"),
    ("Korea Standard Time", "Asia/Seoul"),
    ("Libya Standard Time", "Africa/Tripoli"),
    ("Line Islands Standard Time", "Pacific/Kiritimati"),
    ("Lord Howe Standard Time", "Australia/Lord_Howe"),
    ("Magadan Standard Time", "Asia/Magadan"),
    ("Magallanes Standard Time", "America/Punta_Arenas"),
    ("Manitoba Standard Time", "America/Winnipeg"),
    ("Marquesas Standard Time", "Pacific/Marquesas"),
    ("Mauritius Standard Time", "Indian/Mauritius"),
    ("Middle East Standard Time", "Asia/Beirut"),
    ("Montevideo Standard Time", "America/Montevideo"),
    ("Morocco Standard Time", "Africa/Casablanca"),
    ("Mountain Standard Time", "America/Denver"),
    ("Mountain Standard Time (Mexico)", "America/Mazatlan"),
    ("Myanmar Standard Time", "Asia/Rangoon"),
    ("N. Central Asia Standard Time", "Asia/Novosibirsk"),
    ("Namibia Standard Time", "Africa/Windhoek"),
    ("Nepal Standard Time", "Asia/Katmandu"),
    ("New Zealand Standard Time", "Pacific/Auckland"),
    ("Newfoundland Standard Time", "America/St_Johns"),
    ("Norfolk Standard Time", "Pacific/Norfolk"),
    ("North Asia East Standard Time", "Asia/Irkutsk"),
    ("North Asia Standard Time", "Asia/Krasnoyarsk"),
    ("North Korea Standard Time", "Asia/Pyongyang"),
    ("Omsk Standard Time", "Asia/Omsk"),
    ("Pacific SA Standard Time", "America/Santiago"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("Pacific Standard Time (Mexico)", "America/Tijuana"),
    ("Pakistan Standard Time", "Asia/Karachi"),
    ("Paraguay Standard Time", "America/Asuncion"),
    ("Qyzylorda Standard Time", "Asia/Qyzylorda"),
    ("Romance Standard Time", "Europe/Paris"),
    ("Russia Time Zone 10", "Asia/Srednekolymsk"),
    ("Russia Time Zone 11", "Asia/Kamchatka"),
    ("Russia Time Zone 3", "Europe/Samara"),
    ("Russian Standard Time", "Europe/Moscow"),
    ("SA Eastern Standard Time", "America/Cayenne"),
    ("SA Pacific Standard Time", "America/Bogota"),
    ("SA Western Standard Time", "America/La_Paz"),
    ("SE Asia Standard Time", "Asia/Bangkok"),
    ("Saint Pierre Standard Time", "America/Miquelon"),
    ("Sakhalin Standard Time", "Asia/Sakhalin"),
    ("Samoa Standard Time", "Pacific/Apia"),
    ("Sao Tome Standard Time", "Africa/Sao_Tome"),
    ("Saratov Standard Time", "Europe/Saratov"),
    ("Singapore Standard Time", "Asia/Singapore"),
    ("South Africa Standard Time", "Africa/Johannesburg"),
    ("South Sudan Standard Time", "Africa/Juba"),
    ("Sri Lanka Standard Time", "Asia/Colombo"),
    ("Sudan Standard Time", "Africa/Khartoum"),
    ("Syria Standard Time", "Asia/Damascus"),
    ("Taipei Standard Time", "Asia/Taipei"),
    ("Tasmania Standard Time", "Australia/Hobart"),
    ("Tocantins Standard Time", "America/Araguaina"),
    ("Tokyo Standard Time", "Asia/Tokyo"),
    ("Tomsk Standard Time", "Asia/Tomsk"),
    ("Tonga Standard Time", "Pacific/Tongatapu"),
    ("Transbaikal Standard Time", "Asia/Chita"),
    ("Turkey Standard Time", "Europe/Istanbul"),
    ("Turks And Caicos Standard Time", "America/Grand_Turk"),
    ("US Eastern Standard Time", "America/Indianapolis"),
    ("US Mountain Standard Time", "America/Phoenix"),
    ("Ulaanbaatar Standard Time", "Asia/Ulaanbaatar"),
    ("Venezuela Standard Time", "America/Caracas"),
    ("Vladivostok Standard Time", "Asia/Vladivostok"),
    ("Volgograd Standard Time", "Europe/Volgograd"),
    ("W. Australia Standard Time", "Australia/Perth"),
    ("W. Central Africa Standard Time", "Africa/Lagos"),
    ("W. Europe Standard Time", "Europe/Berlin"),
    ("W. Mongolia Standard Time", "Asia/Hovd"),
    ("West Asia Standard Time", "Asia/Tashkent"),
    ("West Bank Standard Time", "Asia/Hebron"),
    ("West Pacific Standard Time", "Pacific/Port_Moresby"),
    ("Yakutsk Standard Time", "Asia/Yakutsk"),
    ("Yukon Standard Time", "America/Whitehorse"),
];

/// The names under which Outlook and Exchange show zones or have shown them, without an offset in front, sorted by name.
const DISPLAYED: &[(&str, &str)] = &[
    ("AUS Central", "Australia/Darwin"),
    ("AUS Eastern", "Australia/Sydney"),
    ("Abu Dhabi, Muscat", "Asia/Muscat"),
    ("Adelaide, Central Australia", "Australia/Adelaide"),
    ("Afghanistan", "Asia/Kabul"),
    ("Alaska", "America/Anchorage"),
    ("Alaskan", "America/Anchorage"),
    ("Almaty, Novosibirsk, North Central Asia", "Asia/Almaty"),
    ("Amsterdam, Berlin, Bern, Rom, Stockholm, Wien", "Europe/Berlin"),
    ("Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Berlin"),
    ("Arab", "Asia/Kuwait"),
    ("Arab, Kuwait, Riyadh", "Asia/Kuwait"),
    ("Arabian", "Asia/Muscat"),
    ("Arabic", "Asia/Baghdad"),
    ("Argentina", "America/Argentina/Buenos_Aires"),
    ("Arizona", "America/Phoenix"),
    ("Armenian", "Asia/Yerevan"),
    ("Astana, Dhaka", "Asia/Dhaka"),
    ("Athens, Istanbul, Minsk", "Europe/Athens"),
    ("Atlantic", "America/Halifax"),
    ("Atlantic Time (Canada)", "America/Halifax"),
    ("Auckland, Wellington", "Pacific/Auckland"),
    ("Azerbijan", "Asia/Baku"),
    ("Azores", "Atlantic/Azores"),
    ("Baghdad", "Asia/Baghdad"),
    ("Baku, Tbilisi, Yerevan", "Asia/Baku"),
    ("Bangkok, Hanoi, Jakarta", "Asia/Bangkok"),
    ("Beijing, Chongqing, Hong Kong SAR, Urumqi", "Asia/Shanghai"),
    ("Belgrade, Pozsony, Budapest, Ljubljana, Prague", "Europe/Prague"),
    ("Bogota, Lima, Quito", "America/Bogota"),
    ("Brasilia", "America/Sao_Paulo"),
    ("Brisbane, East Australia", "Australia/Brisbane"),
    ("Brussels, Copenhagen, Madrid, Paris", "Europe/Paris"),
    ("Bucharest", "Europe/Bucharest"),
    ("Buenos Aires", "America/Argentina/Buenos_Aires"),
    ("Cairo", "Africa/Cairo"),
    ("Canada Central", "America/Edmonton"),
    ("Canberra, Melbourne, Sydney", "Australia/Sydney"),
    ("Canberra, Melbourne, Sydney, Hobart", "Australia/Sydney"),
    ("Cape Verde", "Atlantic/Cape_Verde"),
    ("Cape Verde Is.", "Atlantic/Cape_Verde"),
    ("Caracas, La Paz", "America/Caracas"),
    ("Casablanca, Monrovia", "Africa/Casablanca"),
    ("Caucasus", "Asia/Yerevan"),
    ("Cen. Australia", "Australia/Adelaide"),
    ("Central", "America/Chicago"),
    ("Central America", "America/Guatemala"),
    ("Central Asia", "Asia/Dhaka"),
    ("Central Brazilian", "America/Manaus"),
    ("Central Europe", "Europe/Prague"),
    ("Central European", "Europe/Sarajevo"),
    ("Central Pacific", "Asia/Magadan"),
    ("Central Time (US & Canada)", "America/Chicago"),
    ("Central Time (US and Canada)", "America/Chicago"),
    ("China", "Asia/Shanghai"),
    ("Darwin", "Australia/Darwin"),
    ("E. Africa", "Africa/Nairobi"),
    ("E. Australia", "Australia/Brisbane"),
    ("E. Europe", "Europe/Minsk"),
    ("E. South America", "America/Belem"),
    ("East Africa, Nairobi", "Africa/Nairobi"),
    ("Eastern", "America/New_York"),
    ("Eastern Time (US & Canada)", "America/New_York"),
    ("Eastern Time (US and Canada)", "America/New_York"),
    ("Egypt", "Africa/Cairo"),
    ("Ekaterinburg", "Asia/Yekaterinburg"),
    ("Eniwetok, Kwajalein, Dateline Time", "Pacific/Kwajalein"),
    ("FLE", "Europe/Helsinki"),
    ("Fiji", "Pacific/Fiji"),
    ("Fiji Islands, Kamchatka, Marshall Is.", "Pacific/Fiji"),
    ("GTB", "Europe/Athens"),
    ("Georgian", "Asia/Tbilisi"),
    ("Greenland", "America/Godthab"),
    ("Greenwich", "Atlantic/Reykjavik"),
    ("Greenwich Mean Time: Dublin, Edinburgh, Lisbon, London", "Europe/Lisbon"),
    ("Greenwich Mean Time; Dublin, Edinburgh, London", "Europe/London"),
    ("Guam, Port Moresby", "Pacific/Guam"),
    ("Harare, Pretoria", "Africa/Harare"),
    ("Hawaii", "Pacific/Honolulu"),
    ("Hawaiian", "Pacific/Honolulu"),
    ("Helsinki, Riga, Tallinn", "Europe/Helsinki"),
    ("Hobart, Tasmania", "Australia/Hobart"),
    ("India", "Asia/Calcutta"),
    ("Indiana (East)", "America/Indiana/Indianapolis"),
    ("Iran", "Asia/Tehran"),
    ("Irkutsk, Ulaan Bataar", "Asia/Irkutsk"),
    ("Islamabad, Karachi, Tashkent", "Asia/Karachi"),
    ("Israel", "Asia/Jerusalem"),
    ("Israel, Jerusalem Standard Time", "Asia/Jerusalem"),
    ("Japan", "Asia/Tokyo"),
    ("Jordan", "Asia/Amman"),
    ("Kabul", "Asia/Kabul"),
    ("Kathmandu, Nepal", "Asia/Kathmandu"),
    ("Kolkata, Chennai, Mumbai, New Delhi, India Standard Time", "Asia/Calcutta"),
    ("Korea", "Asia/Seoul"),
    ("Krasnoyarsk", "Asia/Krasnoyarsk"),
    ("Kuala Lumpur, Singapore", "Asia/Singapore"),
    ("Magadan, Solomon Is., New Caledonia", "Asia/Magadan"),
    ("Mauritius", "Indian/Mauritius"),
    ("Mexico", "America/Mexico_City"),
    ("Mexico City, Tegucigalpa", "America/Mexico_City"),
    ("Mexico Standard Time 2", "America/Chihuahua"),
    ("Mid-Atlantic", "America/Noronha"),
    ("Middle East", "Asia/Beirut"),
    ("Midway Island, Samoa", "Pacific/Midway"),
    ("Montevideo", "America/Montevideo"),
    ("Morocco", "Africa/Casablanca"),
    ("Moscow, St. Petersburg, Volgograd", "Europe/Moscow"),
    ("Mountain", "America/Denver"),
    ("Mountain Time (US & Canada)", "America/Denver"),
    ("Mountain Time (US and Canada)", "America/Denver"),
    ("Myanmar", "Asia/Rangoon"),
    ("N. Central Asia", "Asia/Almaty"),
    ("Namibia", "Africa/Windhoek"),
    ("Nepal", "Asia/Kathmandu"),
    ("New Zealand", "Pacific/Auckland"),
    ("Newfoundland", "America/St_Johns"),
    ("North Asia", "Asia/Krasnoyarsk"),
    ("North Asia East", "Asia/Irkutsk"),
    ("Nuku'alofa, Tonga", "Pacific/Tongatapu"),
    ("Osaka, Sapporo, Tokyo", "Asia/Tokyo"),
    ("Pacific", "America/Los_Angeles"),
    ("Pacific SA", "America/Santiago"),
    ("Pacific Time (US & Canada)", "America/Los_Angeles"),
    ("Pacific Time (US & Canada); Tijuana", "America/Los_Angeles"),
    ("Pacific Time (US and Canada)", "America/Los_Angeles"),
    ("Pacific Time (US and Canada); Tijuana", "America/Los_Angeles"),
    ("Pakistan", "Asia/Karachi"),
    ("Paris, Madrid, Brussels, Copenhagen", "Europe/Paris"),
    ("Perth, Western Australia", "Australia/Perth"),
    ("Prague, Central Europe", "Europe/Prague"),
    ("Rangoon", "Asia/Rangoon"),
    ("Romance", "Europe/Paris"),
    ("Russian", "Europe/Moscow"),
    ("SA Eastern", "America/Belem"),
    ("SA Pacific", "America/Bogota"),
    ("SA Western", "America/La_Paz"),
    ("SE Asia", "Asia/Bangkok"),
    ("Samoa", "Pacific/Apia"),
    ("Santiago", "America/Santiago"),
    ("Sarajevo, Skopje, Sofija, Vilnius, Warsaw, Zagreb", "Europe/Sarajevo"),
    ("Saskatchewan", "America/Edmonton"),
    ("Seoul, Korea Standard time", "Asia/Seoul"),
    ("Singapore", "Asia/Singapore"),
    ("South Africa", "Africa/Harare"),
    ("Sri Jayawardenepura, Sri Lanka", "Asia/Colombo"),
    ("Sri Lanka", "Asia/Colombo"),
    ("Taipei", "Asia/Taipei"),
    ("Tasmania", "Australia/Hobart"),
    ("Tehran", "Asia/Tehran"),
    ("Tokyo", "Asia/Tokyo"),
    ("Tonga", "Pacific/Tongatapu"),
    ("US Eastern", "America/Indiana/Indianapolis"),
    ("US Mountain", "America/Phoenix"),
    ("Universal Coordinated Time", "UTC"),
    ("Venezuela", "America/Caracas"),
    ("Vladivostok", "Asia/Vladivostok"),
    ("W. Australia", "Australia/Perth"),
    ("W. Central Africa", "Africa/Lagos"),
    ("W. Europe", "Europe/Amsterdam"),
    ("West Asia", "Asia/Tashkent"),
    ("West Central Africa", "Africa/Luanda"),
    ("West Pacific", "Pacific/Guam"),
    ("Yakutsk", "Asia/Yakutsk"),
];

/// The zone of a Windows name, with or without what producers put in front of it: a slash, or an offset as in
/// `(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna`.
///
/// An offset with an unknown name does not identify a zone: it says nothing about summer time or half hours.
pub(super) fn zone(name: &str) -> Option<Zone> {
    let name = name.trim();
    let bare = if name.starts_with('(') {
        name.split_once(')').map_or(name, |(_, bare)| bare.trim_start())
    } else {
        name.strip_prefix('/').unwrap_or(name)
    };
    [NAMES, DISPLAYED].iter().find_map(|table| {
        let index = table.binary_search_by_key(&bare, |(name, _)| name).ok()?;
        table[index].1.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use calcard::common::timezone::Tz;
    use rstest::rstest;

    use super::*;
    use crate::read::zones::guessed;

    /// Names that calcard lacks, or for which it has the zone of an older CLDR, from before the clocks there changed.
    const NEWER: &[&str] = &[
        "Alberta Standard Time",
        "British Columbia Standard Time",
        "Central Asia Standard Time",
        "Manitoba Standard Time",
        "Mountain Standard Time (Mexico)",
        "South Sudan Standard Time",
    ];

    fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
        NAMES.iter().chain(DISPLAYED).copied()
    }

    /// The zone that calcard has for a name.
    fn theirs(name: &str) -> Option<&'static str> {
        match name.parse() {
            Ok(Tz::Tz(zone)) => Some(zone.name()).filter(|zone| !zone.starts_with("Etc/GMT")),
            _ => None,
        }
    }

    #[test]
    fn the_tables_are_sorted_and_share_no_name() {
        for table in [NAMES, DISPLAYED] {
            assert!(table.is_sorted_by(|(a, _), (b, _)| a < b));
        }
        assert!(DISPLAYED.iter().all(|(shown, _)| NAMES.binary_search_by_key(shown, |(name, _)| name).is_err()));
    }

    #[test]
    fn every_name_has_a_known_zone() {
        for (name, target) in names() {
            assert_eq!(zone(name).map(Zone::name), Some(target), "{name}");
        }
    }

    #[test]
    fn calcard_has_the_same_zone_for_every_name() {
        let (newer, same): (Vec<_>, Vec<_>) = names().partition(|(name, _)| NEWER.contains(name));
        assert_eq!(newer.len(), NEWER.len());
        for (name, _) in same {
            for written in [name.to_owned(), format!("(UTC+03:00) {name}"), format!("/{name}")] {
                assert_eq!(guessed(&written).map(Zone::name), theirs(&written), "{written}");
            }
        }
        for (name, target) in newer {
            assert_ne!(theirs(name), Some(target), "{name} is known by now");
        }
    }

    #[rstest]
    #[case("UTC-11")]
    #[case("Dateline Standard Time")]
    #[case("(UTC+05:30) Some hills")]
    #[case("(UTC+01:00)")]
    #[case("(")]
    #[case("")]
    #[case("/")]
    fn offsets_and_other_texts_name_no_zone(#[case] name: &str) {
        assert_eq!(zone(name), None);
        assert_eq!(theirs(name), None);
    }
}
