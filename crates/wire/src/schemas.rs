//! Schemas of fields that are plain strings to serde, but hold a name from a list of the domain. Our own code parses
//! these fields, with the same lists.

use std::{borrow::Cow, collections::BTreeSet};

use kalends_accounts::{Action, ClaimStatus, Role, SignUpSource};
use kalends_bookings::{Assignment, CancelledBy, Consent, QuestionType};
use kalends_bridge::{Audience, CalendarProvider, ConnectionStatus, LinkStatus, PublicationPolicy};
use kalends_calendars as calendars;
use kalends_feeds::SubscriptionStatus;
use kalends_notifications::{Deactivation, EventType};
use kalends_plans::{Feature, Metric, Plan};
use kalends_proposals::{CancelReason, Placement, ResponseKind, Status};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{Object, ObjectBuilder, Type},
    },
};

use crate::{
    EventStatus,
    names::{AVAILABILITY, DELETE_COPIES, KEEP_COPIES, PUBLISHING, WORTHS},
};

/// The status of an event that is not a hold.
pub(crate) struct SettledStatus;

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build().into()
}

/// What happens to the copies of a destination that is deleted. No answer shows it, so it is described in its place.
pub(crate) fn kept_copies() -> Object {
    let names = [DELETE_COPIES, KEEP_COPIES];
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).default(Some(DELETE_COPIES.into())).build()
}

macro_rules! closed_sets {
    ($($(#[$doc:meta])* $name:ident = $names:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                one_of($names.into_iter())
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

/// The names of all values of a type.
macro_rules! names {
    ($type:ty) => {
        <$type>::ALL.iter().map(|known| known.as_str())
    };
}

closed_sets! {
    /// An event type that an endpoint can subscribe to, or `*` for all of them.
    EventName = names!(EventType).chain(["*"]);
    /// The type of a webhook message.
    MessageType = names!(EventType).chain([EventType::WebhookTest.as_str()]);
    /// Why an endpoint was deactivated.
    DeactivationReason = [Deactivation::Gone, Deactivation::Failing].map(Deactivation::as_str);
    /// An attendee's reply to an invitation.
    ReplyName = [
        calendars::AttendeeStatus::Accepted,
        calendars::AttendeeStatus::Tentative,
        calendars::AttendeeStatus::Declined,
    ]
    .map(calendars::AttendeeStatus::as_str);
    /// The role of a member of an organization.
    RoleName = names!(Role);
    /// A participant's response.
    ResponseName = names!(ResponseKind);
    /// Who gets an event when a slot of a proposal is confirmed.
    PlacementName = names!(Placement);
    /// The status of a proposal.
    ProposalStatus = names!(Status);
    /// Why a proposal was cancelled.
    ProposalCancelReason = names!(CancelReason);
    /// The outcome of resolving a proposal.
    ResolutionStatus = [Status::Confirmed, Status::Cancelled].map(Status::as_str);
    /// Why resolving a proposal cancelled it.
    ResolutionReason = [CancelReason::AllDeclined.as_str()];
    /// A capability that a connection link can ask for.
    CapabilityName = [AVAILABILITY, PUBLISHING];
    /// Which events may be published.
    PolicyName = names!(PublicationPolicy);
    /// The status of a connection link.
    ConnectionLinkStatus = names!(LinkStatus);
    /// The status of a connection.
    ConnectionStatusName = names!(ConnectionStatus);
    /// Why a connection needs its user.
    AttentionStatus = [ConnectionStatus::Error, ConnectionStatus::ReauthorizationRequired]
        .map(ConnectionStatus::as_str);
    /// The status of a destination.
    DestinationStatus = names!(ConnectionStatus);
    /// The agents for which a human calendar counts.
    GrantAudience = names!(Audience);
    /// The provider of a human calendar.
    ProviderName = CalendarProvider::ALL.map(CalendarProvider::as_str);
    /// How current the busy times of a human calendar are.
    DataWorth = WORTHS;
    /// The status of a subscription.
    SubscriptionStatusName = names!(SubscriptionStatus);
    /// The status that a caller can give a subscription.
    WantedSubscriptionStatus = [SubscriptionStatus::Paused, SubscriptionStatus::Active].map(SubscriptionStatus::as_str);
    /// A plan, as usage shows it.
    ShownPlan = [Plan::Free, Plan::Pro, Plan::Custom].map(Plan::public_name);
    /// A public plan.
    PublicPlanName = Plan::PUBLIC.map(|public| public.plan.as_str());
    /// A plan with a feature that smaller plans lack.
    RequiredPlan = BTreeSet::from(Feature::ALL.map(|feature| feature.required_plan().as_str()));
    /// A feature that only some plans include.
    FeatureName = names!(Feature);
    /// A metric that a plan limits.
    MetricName = names!(Metric);
    /// How an organization was created.
    SignUpSourceName = names!(SignUpSource);
    /// The status of a claim.
    ClaimStatusName = names!(ClaimStatus);
    /// The status of a revoked claim.
    RevokedStatus = [ClaimStatus::Revoked.as_str()];
    /// An action that the audit log records.
    AuditAction = names!(Action);
    /// How a question of a booking page is answered.
    QuestionTypeName = names!(QuestionType);
    /// Whether an address gets emails about bookings.
    ConsentName = names!(Consent);
    /// Which calendars of a page take part in a booking.
    AssignmentName = names!(Assignment);
    /// Who cancelled a booking.
    CancelledByName = names!(CancelledBy);
    /// The status of a guest's booking.
    BookingStatus = [calendars::EventStatus::Confirmed, calendars::EventStatus::Cancelled].map(calendars::EventStatus::as_str);
    /// The status of a healthy service.
    HealthStatus = ["ok"];
    /// The answer to feedback.
    AcceptedStatus = ["accepted"];
    /// The name of a notice.
    NoticeCode = ["repeats_in_utc", "offers_nights", "too_few_accepts", "no_slot_left", "slot_taken", "no_calendar"];
    /// The answer to a request for a refresh of a connection.
    RefreshingStatus = ["refreshing"];
    /// The answer to a request for a sync of a subscription.
    SyncingStatus = ["syncing"];
}

impl PartialSchema for SettledStatus {
    fn schema() -> RefOr<Schema> {
        let Schema::Object(mut all) = resolved(EventStatus::schema()) else { return EventStatus::schema() };
        let hold = calendars::EventStatus::Hold.as_str();
        if let Some(names) = &mut all.enum_values {
            names.retain(|name| name != hold);
        }
        all.description = None;
        Schema::Object(all).into()
    }
}

pub(crate) fn resolved(schema: RefOr<Schema>) -> Schema {
    match schema {
        RefOr::T(schema) => schema,
        RefOr::Ref(_) => Schema::default(),
    }
}

impl ToSchema for SettledStatus {
    fn name() -> Cow<'static, str> {
        "SettledStatus".into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{CreateConnectionLink, CreateEventBatch, CreateWebhook, RespondToProposal, UpdateEvent, UpdateWebhook};

    fn schema_of<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()
    }

    #[test]
    fn schemas_list_the_names_that_are_parsed() {
        let names = |schema: Value| schema["enum"].as_array().unwrap().clone();
        let events = names(schema_of::<EventName>());
        assert_eq!((events.len(), &events[0], &events[22]), (23, &json!("event.created"), &json!("*")));
        assert_eq!(names(schema_of::<ResponseName>()), ["accept", "decline", "counter"]);
        assert_eq!(names(schema_of::<CapabilityName>()), ["availability", "publishing"]);
        assert_eq!(names(schema_of::<PolicyName>()), ["none", "confirmed", "confirmed_tentative"]);
        assert_eq!(names(schema_of::<SettledStatus>()), ["confirmed", "tentative", "cancelled"]);
    }

    #[test]
    fn request_schemas_list_the_accepted_values() {
        for (schema, place, name) in [
            (schema_of::<CreateWebhook>(), "/properties/events/items", "EventName"),
            (schema_of::<UpdateWebhook>(), "/properties/events/items", "EventName"),
            (schema_of::<RespondToProposal>(), "/properties/response", "ResponseName"),
            (schema_of::<CreateConnectionLink>(), "/properties/capabilities/items", "CapabilityName"),
            (schema_of::<CreateConnectionLink>(), "/properties/publication_policy", "PolicyName"),
            (schema_of::<UpdateEvent>(), "/properties/status", "SettledStatus"),
            (schema_of::<CreateEventBatch>(), "/properties/events/items", "BatchedEvent"),
        ] {
            let reference = schema.pointer(place).map(Value::to_string).unwrap_or_default();
            assert!(reference.contains(&format!("#/components/schemas/{name}\"")), "{name}: {reference}");
        }
    }
}
