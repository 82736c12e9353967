//! Invitations beyond the rule: attendees of single occurrences, what a cancellation shows, and what a change of an event
//! with attendees does not need.

use crate::on_both;
use kalends_e2e::{Database, Mail};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::shared_calendar,
    holds::{hold_body, in_seconds},
    invitations_by_the_rule::{ADA, BOB, END, Host, Invited, START, instance, occurrences, people, sent, statuses},
};

const DAY: &str = "20310507T103000Z";

/// A series for Ada, with one occurrence to which Bob is invited too.
async fn with_a_guest_of_one_day(host: &mut Host) -> (Invited, i64) {
    let series = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10" })).await;
    host.patch_and_send(&of_day(&series.id, 7), json!({ "attendees": people(&[ADA, BOB]) })).await;
    let mails = host.mails(2).await;
    let sequence = sent(&mails, "REQUEST", &[ADA, BOB], &series.id, series.sequence);
    assert_eq!(occurrences(&mails), [DAY, DAY]);
    (series, sequence)
}

fn of_day(series: &str, day: usize) -> String {
    instance(series, &format!("2031-05-{day:02}T10:30:00Z"))
}

/// The line of the calendar part that begins with this name.
fn line(mail: &Mail, name: &str) -> Option<String> {
    mail.invitation.lines().find(|line| line.starts_with(name)).map(str::to_owned)
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_of_one_occurrence_gets_the_changes_and_the_end_of_the_series(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    // Ada gets the series with its changed occurrence, and Bob that occurrence.
    host.patch_and_send(&format!("{}?scope=all", of_day(&series.id, 9)), json!({ "location": "Room 2" })).await;
    let mails = host.mails(2).await;
    assert_eq!((mails[0].to.as_str(), mails[0].invitation.matches("BEGIN:VEVENT").count()), (ADA, 2));
    let sequence = sent(&mails[1..], "REQUEST", &[BOB], &series.id, sequence);
    assert_eq!(occurrences(&mails[1..]), [DAY]);
    assert_eq!(line(&mails[1], "LOCATION").as_deref(), Some("LOCATION:Room 2"));

    // Another rule has no such occurrence.
    host.patch_and_send(&series.id, json!({ "recurrence_rule": "FREQ=WEEKLY;COUNT=3" })).await;
    let mails = host.mails(2).await;
    sent(&mails[..1], "REQUEST", &[ADA], &series.id, sequence);
    sent(&mails[1..], "CANCEL", &[BOB], &series.id, sequence);
    assert_eq!(occurrences(&mails), [DAY]);
    host.nothing_more().await;

    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    host.delete_and_send(&series.id, "").await;
    let mails = host.mails(2).await;
    sent(&mails, "CANCEL", &[ADA, BOB], &series.id, sequence);
    assert_eq!(occurrences(&mails), [DAY], "Ada's is about the whole series");
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_of_one_occurrence_goes_with_it_to_the_new_series(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    let path = format!("{}?scope=following", of_day(&series.id, 5 + 2));
    let new = host.patch_and_send(&path, json!({ "title": "Sync" })).await.id();
    let mut mails = host.mails(4).await;
    mails.sort_by_key(|mail| (mail.to.clone(), line(mail, "METHOD"), line(mail, "UID")));
    let about = |mail: &Mail| {
        let uid = line(mail, "UID:").unwrap();
        (mail.to.clone(), line(mail, "METHOD:").unwrap(), uid.contains(&series.id), uid.contains(&new))
    };
    let got: Vec<_> = mails.iter().map(about).collect();
    let request = || "METHOD:REQUEST".to_owned();
    for expected in [
        (ADA.to_owned(), request(), true, false),
        (ADA.to_owned(), request(), false, true),
        (BOB.to_owned(), "METHOD:CANCEL".to_owned(), true, false),
        (BOB.to_owned(), request(), false, true),
    ] {
        assert!(got.contains(&expected), "{expected:?} in {got:?}");
    }
    let of_bob = mails.iter().find(|mail| mail.to == BOB && mail.invitation.contains("METHOD:REQUEST")).unwrap();
    assert_eq!(host.open(&host.link(of_bob)).await.status, 200);
    let cancelled: Vec<Mail> = mails.into_iter().filter(|mail| mail.invitation.contains("METHOD:CANCEL")).collect();
    sent(&cancelled, "CANCEL", &[BOB], &series.id, sequence);
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_who_leaves_the_series_keeps_the_occurrences_with_a_list_of_their_own(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    host.patch_and_send(&series.id, json!({ "attendees": people(&["eve@example.com"]) })).await;
    let mut mails = host.mails(4).await;
    mails.sort_by_key(|mail| (mail.to.clone(), line(mail, "RECURRENCE-ID")));
    // Ada's calendar drops the series, and gets back the occurrence that still names her.
    let sequence = sent(&mails[..1], "CANCEL", &[ADA], &series.id, sequence);
    assert_eq!(occurrences(&mails[1..3]), [DAY, DAY]);
    sent(&mails[1..2], "REQUEST", &[ADA], &series.id, sequence - 1);
    sent(&mails[2..], "REQUEST", &[BOB, "eve@example.com"], &series.id, sequence - 1);
    let changed = host.get(&of_day(&series.id, 7)).await;
    assert_eq!(statuses(&changed.json).len(), 2, "{}", changed.describe());
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_occurrence_that_moves_with_its_series_ends_where_it_was(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    let times = json!({ "start_time": "2031-05-09T11:30:00Z" });
    host.patch_and_send(&format!("{}?scope=all", of_day(&series.id, 9)), times).await;
    let mails = host.mails(3).await;
    let (mut of_bob, of_ada): (Vec<Mail>, Vec<Mail>) = mails.into_iter().partition(|mail| mail.to == BOB);
    of_bob.sort_by_key(|mail| line(mail, "METHOD"));
    assert_eq!((of_ada.len(), of_ada[0].invitation.matches("BEGIN:VEVENT").count()), (1, 2));
    let sequence = sent(&of_bob[..1], "CANCEL", &[BOB], &series.id, sequence);
    assert_eq!(occurrences(&of_bob[..1]), [DAY]);
    sent(&of_bob[1..], "REQUEST", &[BOB], &series.id, sequence - 1);
    assert_eq!(occurrences(&of_bob[1..]), ["20310507T113000Z"]);
    host.nothing_more().await;

    // The series becomes a single event, and the occurrence ends as one of the series.
    let (series, sequence) = with_a_guest_of_one_day(&mut host).await;
    host.patch_and_send(&series.id, json!({ "recurrence_rule": null })).await;
    let (of_bob, of_ada): (Vec<Mail>, Vec<Mail>) = host.mails(2).await.into_iter().partition(|mail| mail.to == BOB);
    sent(&of_ada, "REQUEST", &[ADA], &series.id, sequence);
    sent(&of_bob, "CANCEL", &[BOB], &series.id, sequence);
    assert_eq!(occurrences(&of_bob), [DAY]);
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reply_reaches_changed_occurrences_also_after_the_series_asked_again(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let series = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10" })).await;
    host.reply(&series.links[0], "accepted").await;
    host.patch(&of_day(&series.id, 7), json!({ "title": "Longer notes" })).await;
    let replied = async |expected: &str| {
        let shown = host.get(&of_day(&series.id, 7)).await.json;
        assert_eq!(statuses(&shown), [format!("{ADA} {expected}")]);
    };
    replied("accepted").await;
    host.patch(&series.id, json!({ "recurrence_rule": "FREQ=DAILY;COUNT=12" })).await;
    replied("needs_action").await;
    host.reply(&series.links[0], "tentative").await;
    replied("tentative").await;
    host.patch(&format!("{}?scope=all", of_day(&series.id, 8)), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=11" }))
        .await;
    replied("needs_action").await;
    host.reply(&series.links[0], "declined").await;
    replied("declined").await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_list_that_nobody_was_sent_keeps_those_who_leave_the_series(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let fields = json!({ "attendees": people(&[ADA]), "recurrence_rule": "FREQ=DAILY;COUNT=10" });
    let series = host.event(fields).await.id();
    host.patch(&of_day(&series, 7), json!({ "attendees": people(&[ADA, BOB]) })).await;
    // Ada is invited to the series, which has that occurrence.
    host.patch_and_send(&series, json!({ "title": "Sync" })).await;
    host.mails(1).await;
    host.patch_and_send(&series, json!({ "attendees": people(&["eve@example.com"]) })).await;
    let mails = host.mails(3).await;
    let of_ada: Vec<Mail> = mails.into_iter().filter(|mail| mail.to == ADA).collect();
    assert_eq!(
        of_ada.iter().map(|mail| line(mail, "METHOD")).collect::<Vec<_>>(),
        [Some("METHOD:CANCEL".to_owned()), Some("METHOD:REQUEST".to_owned())]
    );
    assert_eq!(occurrences(&of_ada[1..]), [DAY]);
    assert_eq!(host.open(&host.link(&of_ada[1])).await.status, 200);
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_that_was_cancelled_without_mail_can_be_cancelled_with_mail(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA]), json!({})).await;
    host.patch(&event.id, json!({ "status": "cancelled" })).await;
    host.patch_and_send(&event.id, json!({ "title": "Retro" })).await;
    host.nothing_more().await;
    let mut sequence = event.sequence;
    for change in [json!({}), json!({ "status": "cancelled" })] {
        host.patch_and_send(&event.id, change).await;
        sequence = sent(&host.mails(1).await, "CANCEL", &[ADA], &event.id, sequence);
    }
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_that_ends_earlier_invites_those_who_had_no_invitation(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let fields = json!({ "attendees": people(&[ADA]), "recurrence_rule": "FREQ=DAILY;COUNT=10" });
    let series = host.event(fields).await.id();
    let path = format!("{}?scope=following", of_day(&series, 9));
    let new = host.patch_and_send(&path, json!({ "title": "Sync" })).await.id();
    for mail in host.mails(2).await {
        assert!(mail.subject.starts_with("Invitation: "), "{mail:#?}");
        assert_eq!(host.open(&host.link(&mail)).await.status, 200);
    }
    host.delete_and_send(&of_day(&new, 12), "?scope=following").await;
    let mail = host.mails(1).await.remove(0);
    assert!(mail.invitation.contains("METHOD:REQUEST") && !mail.subject.starts_with("No longer"), "{mail:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn whole_days_of_one_occurrence_are_days_of_the_calendar(#[case] database: Database) {
    let mut host = Host::new(database).await;
    host.calendar = shared_calendar(&host.api, "Europe/Berlin").await;
    let series = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10" })).await;
    let day = json!({ "all_day": true, "start_time": "2031-05-07", "end_time": "2031-05-08" });
    host.patch_and_send(&of_day(&series.id, 7), day).await;
    let mail = host.mails(1).await.remove(0);
    assert_eq!(line(&mail, "DTSTART").as_deref(), Some("DTSTART;VALUE=DATE:20310507"));
    assert!(mail.text.contains("Wednesday, 7 May 2031, all day"), "{}", mail.text);
    // A hold, which invites nobody, is not cancelled by mail either.
    let mut hold = hold_body("2031-06-06T10:30:00Z", "2031-06-06T11:30:00Z", &in_seconds(&host.api, 600).await, 0);
    hold["attendees"] = people(&[ADA]);
    let hold = host.api.post(host.events()).json(hold).await.expect(201).id();
    let refused = host.api.delete(format!("/v1/events/{hold}?send_invitations=true")).await;
    refused.refused(400, "validation_error").param("send_invitations");
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancellation_shows_the_event_as_it_was(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    let change = json!({
        "title": "Without Ada", "start_time": "2031-05-07T15:00:00Z", "attendees": people(&[BOB])
    });
    host.patch_and_send(&event.id, change).await;
    let mails = host.mails(2).await;
    sent(&mails[..1], "CANCEL", &[ADA], &event.id, event.sequence);
    assert_eq!(line(&mails[0], "DTSTART").as_deref(), Some("DTSTART:20310506T103000Z"));
    assert!(!mails[0].invitation.contains("Without Ada") && !mails[0].text.contains("Without Ada"), "{:#?}", mails[0]);
    assert!(mails[0].subject.starts_with("No longer invited: "), "{}", mails[0].subject);
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_that_is_gone_keeps_nobody_from_changing_the_event(#[case] database: Database) {
    let host = Host::new(database).await;
    let other = host.api.post("/v1/agents").json(json!({ "name": "Grace", "type": "ai" })).await.expect(201).id();
    let named = |email: &str| json!({ "email": email, "agent_id": other });
    let event = host.event(json!({ "attendees": [named(ADA)] })).await.id();
    host.api.delete(format!("/v1/agents/{other}")).await.expect(204);
    let kept = host.patch(&event, json!({ "title": "Retro", "attendees": [named(ADA)] })).await;
    assert_eq!(kept["attendees"][0]["agent_id"], json!(other));
    let more = json!({ "attendees": [named(ADA), named(BOB)] });
    let refused = host.api.patch(format!("/v1/events/{event}")).json(more).await.refused(400, "validation_error");
    assert_eq!(refused.at("/error/param"), "attendees[1].agent_id");
    // A hold names no such agent either.
    let mut hold = hold_body(START, END, &in_seconds(&host.api, 600).await, 0);
    hold["attendees"] = json!([named(BOB)]);
    host.api.post(host.events()).json(hold).await.refused(400, "validation_error").param("attendees[0].agent_id");
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_takes_replies_until_its_last_moved_occurrence_is_over(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2", "start_time": "2031-05-06T10:30:00Z" });
    let series = host.invited(people(&[ADA]), rule).await;
    let later = json!({ "start_time": "2099-05-07T15:00:00Z", "end_time": "2099-05-07T15:30:00Z" });
    host.patch(&of_day(&series.id, 7), later).await;
    // 2032, after everything that the rule gives.
    let seconds = 366 * 86_400 * 6;
    host.later(seconds).await;
    host.reply(&series.links[0], "accepted").await;
    let shown: Value = host.get(&series.id).await.json;
    assert_eq!(statuses(&shown), [format!("{ADA} accepted")]);
}
