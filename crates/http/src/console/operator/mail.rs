//! The sending of mail.

use axum::response::Response;
use http::StatusCode;
use kalends_accounts::Email;
use kalends_app::{App, FAILED_LISTED_OF_EACH, FailedOnDay, TestMail};
use kalends_notifications::{FailedLetter, LetterStatus};
use kalends_web::{
    NO_PROBLEMS, OperatorDayCount, OperatorFailedEmail, OperatorFailedMail, OperatorFailure, OperatorMail,
    OperatorMailOutcome, OperatorPlace, Problems, TEST_MAIL_FIELDS,
};

use super::{
    super::shown::{because_of, page, problems},
    figures::Figures,
    overview::in_time,
    session::{Operator, OperatorForm},
};
use crate::{Service, error::ApiError};

/// The setting that says how mail is sent.
const TRANSPORT: &str = "KALENDS_MAIL";

/// `GET /console/operator/mail`
pub(super) async fn show(app: Service, operator: Operator) -> Response {
    page(StatusCode::OK, render(&app, &operator, "", None, &NO_PROBLEMS).await)
}

/// An email that failed, and the identifier of its organization.
fn shown<'a>((letter, org): (&'a FailedLetter, &'a String)) -> OperatorFailedEmail<'a> {
    OperatorFailedEmail {
        org,
        organization: &letter.organization,
        domain: &letter.domain,
        state: match letter.status {
            LetterStatus::Refused => OperatorFailure::Refused,
            LetterStatus::Pending => OperatorFailure::Again(letter.next_attempt_at),
            _ => OperatorFailure::GivenUp,
        },
        attempts: u64::from(letter.attempts),
        code: letter.reply.as_ref().and_then(|reply| reply.code),
        reason: letter.reply.as_ref().map_or("", |reply| reply.text.as_str()),
        written_at: letter.created_at,
    }
}

const fn shown_count(count: FailedOnDay) -> OperatorDayCount {
    match count {
        FailedOnDay::Exactly(count) => OperatorDayCount::Exactly(count),
        FailedOnDay::AtLeast(count) => OperatorDayCount::AtLeast(count),
        FailedOnDay::NotCounted => OperatorDayCount::NotCounted,
    }
}

async fn render(app: &App, operator: &Operator, email: &str, sent: Option<&TestMail>, problems: &Problems) -> String {
    let failed = in_time("failed emails", app.failed_mail()).await;
    let newest = failed.as_ref().map(|failed| failed.newest.as_slice()).unwrap_or_default();
    let orgs: Vec<_> = newest.iter().map(|letter| letter.org.to_string()).collect();
    let emails: Vec<_> = newest.iter().zip(&orgs).map(shown).collect();
    let by_day = failed.as_ref().map(|failed| failed.by_day.as_slice()).unwrap_or_default();
    let days: Vec<_> = by_day.iter().map(|(day, count)| (*day, shown_count(*count))).collect();
    let failed = failed.as_ref().map(|_| OperatorFailedMail {
        emails: &emails,
        of_each: u64::from(FAILED_LISTED_OF_EACH),
        days: &days,
    });
    let deployment = &app.settings().deployment;
    let transport = deployment.settings.iter().find(|setting| setting.name == TRANSPORT);
    let outcome = sent.map(|sent| OperatorMailOutcome {
        accepted: sent.accepted,
        code: sent.reply.as_ref().and_then(|reply| reply.code),
        text: sent.reply.as_ref().map_or("", |reply| reply.text.as_str()),
        details: &sent.details,
    });
    let figures = Figures::read();
    let shown = OperatorMail {
        shell: &operator.shell(OperatorPlace::Mail),
        transport: transport.map_or("", |setting| setting.value.as_str()),
        sender: &app.mail_sender(),
        keeps_mail: deployment.keeps_mail,
        letters: &figures.letters(),
        failed,
        email,
        outcome,
        problems,
    };
    shown.html()
}

/// `POST /console/operator/mail`. The answer says at once what became of the email.
pub(super) async fn send_test(app: Service, form: OperatorForm) -> Result<Response, ApiError> {
    let email = form.fields.get("email").trim();
    let outcome = match Email::parse("email", email) {
        Ok(to) => app.send_test_mail(&to).await,
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(sent) => Ok(page(StatusCode::OK, render(&app, &form.operator, email, Some(&sent), &NO_PROBLEMS).await)),
        Err(refusal) => {
            let (problems, error) = problems(refusal, &TEST_MAIL_FIELDS)?;
            let shown = page(error.status(), render(&app, &form.operator, email, None, &problems).await);
            Ok(because_of(error, shown))
        }
    }
}
