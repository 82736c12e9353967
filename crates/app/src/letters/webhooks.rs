//! The email about a webhook that the server switched off.

use kalends_accounts::Email;
use kalends_kernel::{Foreign, WebhookId};
use kalends_notifications::Deactivation;

use super::{Letter, Part, Words};
use crate::ports::Mail;

/// An endpoint was disabled because of how its receiver responds. Only the host of its address is shown: the rest may
/// be a secret.
pub(crate) fn webhook_deactivated(
    to: &Email,
    organization: &Foreign,
    (webhook, host): (WebhookId, &Foreign),
    why: Deactivation,
) -> Mail {
    let reason = match why {
        Deactivation::Gone => "it answered 410 Gone, which means that it no longer exists",
        Deactivation::Failing => "every attempt in five days has failed",
    };
    Letter {
        subject: "A Kalends webhook was switched off".into(),
        parts: vec![
            Part::Says(
                Words::new("the webhook ")
                    .own(&webhook)
                    .and(" of the organization \"")
                    .foreign(organization)
                    .and("\", which posts to ")
                    .foreign(host)
                    .and(", was switched off: ")
                    .and(reason)
                    .and(". Nothing is sent to it any more."),
            ),
            Part::Says(
                Words::new(
                    "Once its receiver works again, switch it on with a PATCH of {\"active\": true} to /v1/webhooks/",
                )
                .own(&webhook)
                .and(
                    ". Deliveries that failed before then can be sent again one by one, from the list of its \
                     deliveries.",
                ),
            ),
        ],
    }
    .to(to)
}
