//! Addresses, their answers, and their tokens.

use std::sync::atomic::{AtomicU8, Ordering};

use kalends_time::Timestamp;
use rstest::rstest;

use super::*;

#[derive(Default)]
struct Counting(AtomicU8);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

fn emails(names: &str) -> Vec<Email> {
    names.chars().map(|name| Email::parse("email", &format!("{name}@example.com")).unwrap()).collect()
}

fn consents(of: &Listeners) -> Vec<(char, Consent)> {
    of.as_slice().iter().map(|of| (of.email.as_str().chars().next().unwrap(), of.consent)).collect()
}

#[rstest]
#[case::none(&[], &[])]
#[case::some(&["a@example.com", "B@example.com"], &[])]
#[case::most(&["a@b.example", "b@b.example", "c@b.example", "d@b.example", "e@b.example"], &[])]
#[case::too_many(&["a", "b", "c", "d", "e", "f"], &["notify_emails"])]
#[case::no_addresses(&["a@example.com", "b", "c@example.com\r\nBcc: d@example.com"], &["notify_emails[1]", "notify_emails[2]"])]
#[case::twice(&["a@example.com", "b@example.com", "a@example.com"], &["notify_emails[2]"])]
fn addresses(#[case] given: &[&str], #[case] wrong: &[&str]) {
    let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
    let parsed = notify_emails(&given);
    let at_fault: Vec<String> = parsed.err().iter().flat_map(FieldErrors::iter).map(|e| e.param.clone()).collect();
    assert_eq!(at_fault, wrong);
}

#[test]
fn answers_stay_and_others_are_asked_once() {
    use Consent::{Agreed, Asked, Member, Refused};
    let entropy = Counting::default();
    let of = (OrgId::new(Timestamp::EPOCH, &entropy), BookingPageId::new(Timestamp::EPOCH, &entropy));
    let none = Listeners::default();
    let first = none.renewed(emails("abc"), &emails("b"), &entropy);
    assert_eq!(consents(&first), [('a', Asked), ('b', Member), ('c', Asked)]);
    assert_eq!(first.to_ask(&none).map(|of| of.email.as_str()).collect::<Vec<_>>(), ["a@example.com", "c@example.com"]);

    let [a, b, c] = [0, 1, 2].map(|index| Listeners::token(of, &first.as_slice()[index]));
    assert_eq!(ConsentToken::presented(&a.reveal()), Some(a));
    assert_eq!(first.opened_by(&c).map(|of| of.email.as_str()), Some("c@example.com"));
    let agreed = first.with_answer(&a, true).unwrap();
    assert_eq!(agreed.with_answer(&a, true), None, "the same answer");
    let answered = agreed.with_answer(&b, false).unwrap();
    assert_eq!(consents(&answered), [('a', Agreed), ('b', Refused), ('c', Asked)]);

    // Answers stay, who has not answered is not asked again, and who left is asked again on return.
    let later = answered.renewed(emails("cbad"), &emails("b"), &entropy);
    assert_eq!(consents(&later), [('c', Asked), ('b', Refused), ('a', Agreed), ('d', Asked)]);
    assert_eq!(later.to_ask(&answered).map(|of| of.email.as_str()).collect::<Vec<_>>(), ["d@example.com"]);
    let without = later.renewed(emails("b"), &[], &entropy);
    let back = without.renewed(emails("ab"), &[], &entropy);
    assert_eq!(consents(&back), [('a', Asked), ('b', Refused)]);
    assert_eq!(back.to_ask(&without).count(), 1);
    assert!(back.opened_by(&a).is_none() && back.with_answer(&a, true).is_none(), "the old link of a");
    // Who refused is not asked again after a return, and the old link still works.
    let without = later.renewed(emails("a"), &[], &entropy);
    assert_eq!(without.opened_by(&b).map(|of| of.consent), Some(Refused));
    let back = without.renewed(emails("ab"), &emails("b"), &entropy);
    assert_eq!(consents(&back), [('a', Agreed), ('b', Refused)]);
    assert_eq!((back.to_ask(&without).count(), back.refused.len()), (0, 0));
    assert_eq!(Listeners::read(without.write()), without);
    let mut many = Listeners::default();
    for number in 0..u8::try_from(REFUSED_KEPT).unwrap() + 9 {
        let email = Email::parse("email", &format!("{number}@example.com")).unwrap();
        many = many.renewed(vec![email], &[], &entropy);
        let token = Listeners::token(of, &many.as_slice()[0]);
        many = many.with_answer(&token, false).unwrap();
    }
    assert_eq!(many.renewed(Vec::new(), &[], &entropy).refused.len(), REFUSED_KEPT);
    // A member who is none any more is asked when the page changes again.
    let gone = first.renewed(emails("abc"), &[], &entropy);
    assert_eq!(consents(&gone), [('a', Asked), ('b', Asked), ('c', Asked)]);
    assert_eq!(gone.to_ask(&first).map(|of| of.email.as_str()).collect::<Vec<_>>(), ["b@example.com"]);
    assert_eq!(Listeners::read(answered.write()), answered);
}

#[test]
fn only_tokens_are_read() {
    let token = ConsentToken {
        org: OrgId::from_bytes([1; 16]),
        page: BookingPageId::from_bytes([2; 16]),
        secret: ConsentSecret([3; 16]),
    };
    let text = token.reveal();
    assert_eq!((text.len(), ConsentToken::presented(&text)), (ConsentToken::LENGTH, Some(token)));
    for wrong in ["", "a", &text[..63], &format!("{text}a"), &text.replace('A', "!")] {
        assert_eq!(ConsentToken::presented(wrong), None, "{wrong}");
    }
    assert!(!format!("{token:?}").contains("[3"));
}
