"""The verification of messages."""

import base64
import hashlib
import hmac

import pytest
from kalends import WebhookError, verify

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
NOW = 1_900_000_000
BODY = b'{"id": "evt_1"}'


def signature(secret, body=BODY, timestamp=NOW):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"whd_1.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def headers(*signatures, timestamp=NOW):
    return {
        "Webhook-Id": "whd_1",
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": " ".join(signatures),
        "X-Service-Event-Type": "event.created",
        "X-Resource-Version": "3",
    }


def test_a_genuine_message_is_read():
    message = verify(SECRET, headers(signature(SECRET)), BODY, now=NOW + 300)
    assert (message.id, message.type, message.version, message.timestamp) == ("whd_1", "event.created", 3, NOW)
    assert message.body == {"id": "evt_1"}


def test_a_known_signature_is_right():
    # The example of Standard Webhooks.
    given = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    message = verify("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", given, b'{"test": 2432232314}', now=1614265330)
    assert message.body == {"test": 2432232314}


@pytest.mark.parametrize("secrets", [SECRET, OLD, [SECRET, OLD], ["whsec_" + base64.b64encode(b"x").decode(), OLD]])
def test_one_right_signature_is_enough(secrets):
    verify(secrets, headers(signature(SECRET), signature(OLD)), BODY, now=NOW)


@pytest.mark.parametrize(
    "given, body, now",
    [
        (headers(signature(OLD)), BODY, NOW),
        (headers(signature(SECRET)), BODY + b" ", NOW),
        (headers(signature(SECRET)), BODY, NOW + 301),
        (headers(signature(SECRET)), BODY, NOW - 301),
        (headers(signature(SECRET), timestamp=NOW + 1), BODY, NOW),
        (headers("v1,ä"), BODY, NOW),
        (headers("v1,\udcff"), BODY, NOW),
        (headers("v1,\ud800"), BODY, NOW),
        (headers(signature(SECRET)) | {"Webhook-Id": "whd_1\udcff"}, BODY, NOW),
        (headers(signature(SECRET)) | {"Webhook-Id": "whd_1\ud800"}, BODY, NOW),
        (headers(""), BODY, NOW),
        (headers(signature(SECRET), timestamp="soon"), BODY, NOW),
        ({}, BODY, NOW),
    ],
)
def test_any_other_message_is_refused(given, body, now):
    with pytest.raises(WebhookError):
        verify(SECRET, given, body, now=now)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_k", "whsec_ä"])
def test_a_secret_without_a_key_is_refused(secret):
    mac = hmac.new(b"", b"whd_1.%d." % NOW + BODY, hashlib.sha256)
    given = headers("v1," + base64.b64encode(mac.digest()).decode())
    for secrets in [secret, [SECRET, secret]]:
        with pytest.raises(ValueError):
            verify(secrets, given, BODY, now=NOW)
