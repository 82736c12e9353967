//! Checks that the table contains every operation that it should.

use std::collections::BTreeSet;

use kalends_app::operations;

use crate::OPERATIONS;

/// The operations without a method, grouped by reason.
const LEFT_OUT: &[(&str, &[&str])] = &[
    (
        "needs a user's console session, not a key",
        &[
            "signUp",
            "signIn",
            "signOut",
            "getMe",
            "updateMe",
            "changePassword",
            "forgotPassword",
            "resetPassword",
            "verifyEmail",
            "resendVerification",
            "startSecondFactor",
            "confirmSecondFactor",
            "renewRecoveryCodes",
            "removeSecondFactor",
            "listOwnOrgs",
            "switchOrg",
            "initiateClaim",
            "verifyClaim",
            "revokeClaim",
            "listClaims",
            "listMembers",
            "inviteMember",
            "updateMember",
            "deleteMember",
            "acceptInvitation",
            "updateOrg",
            "acceptTermsInConsole",
            "exportAccount",
            "deleteAccount",
            "regenerateKey",
            "createScopedKeyFromConsole",
            "openConnectionLink",
            "declineConnectionLink",
            "startCalendarConnection",
            "connectCaldav",
            "connectExample",
            "listCalendarConnections",
            "getCalendarConnection",
            "updateCalendarConnection",
            "deleteCalendarConnection",
            "refreshCalendarConnection",
            "pauseCalendarConnection",
            "resumeCalendarConnection",
            "reauthorizeCalendarConnection",
            "listExternalCalendars",
            "getDrawing",
            "replaceDrawing",
            "createAvailabilityGrant",
            "listAvailabilityGrants",
            "deleteAvailabilityGrant",
            "getExternalDestination",
            "putExternalDestination",
            "deleteExternalDestination",
        ],
    ),
    ("redirects a browser", &["startSignInWith", "endSignInWith", "endCalendarConnection"]),
    ("is for the operator, not for a key", &["activateOrganization"]),
    (
        "is a web page",
        &[
            "showBookingPage",
            "getBookingAsset",
            "showCancellation",
            "showMove",
            "showInvitation",
            "showBookingEmails",
            "showReplyLink",
        ],
    ),
];

#[test]
fn every_operation_has_a_method_or_a_reason_not_to() {
    let left_out: Vec<&str> = LEFT_OUT.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let there = OPERATIONS.iter().map(|operation| (operation.method, operation.path, operation.id));
    let of_service = operations::ALL.iter().map(|operation| (operation.method, operation.path, operation.id));
    let expected: BTreeSet<_> = of_service.filter(|(_, _, id)| !left_out.contains(id)).collect();
    assert_eq!(there.collect::<BTreeSet<_>>(), expected);
    let known: BTreeSet<&str> = operations::ALL.iter().map(|operation| operation.id).collect();
    let gone: Vec<_> = left_out.iter().filter(|id| !known.contains(*id)).collect();
    assert!(gone.is_empty(), "left out, but unknown to the service: {gone:?}");
}

#[test]
fn methods_are_named_after_their_operations() {
    for operation in OPERATIONS {
        let snake = operation.id.chars().fold(String::new(), |mut name, letter| {
            if letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
            name
        });
        assert_eq!(operation.name, snake);
        let parameters = operation.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        assert_eq!(operation.parameters, parameters.collect::<Vec<_>>(), "{}", operation.id);
    }
}
