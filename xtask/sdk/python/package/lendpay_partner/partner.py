"""What the package adds to the generated client: repeats, idempotency keys, a user agent, and the check of webhooks."""

import random
import time
import uuid
from collections.abc import Mapping
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError
from urllib3.exceptions import HTTPError

from lendpay_partner import ApiClient, Configuration
from lendpay_partner.rest import RESTResponse

__all__ = ["PartnerClient", "WebhookVerificationError", "verify_webhook"]

# How often a call is made at the most.
ATTEMPTS = 6
# Seconds for one attempt: more than the service's own limit, so that its answer is got.
LIMIT = 35.0
# What is answered when the same request may succeed later.
REPEATED = (408, 429, 500, 503)


class PartnerClient(ApiClient):
    """A client that repeats what the README names, so that each call is carried out once in the end."""

    def __init__(self, configuration: Configuration) -> None:
        # urllib3 repeats some requests by rules of its own.
        configuration.retries = False
        super().__init__(configuration)
        self.user_agent = "lendpay-partner-python/@VERSION@"

    def call_api(
        self,
        method: str,
        url: str,
        header_params: dict[str, str] | None = None,
        body: Any = None,
        post_params: Any = None,
        _request_timeout: Any = None,
    ) -> RESTResponse:
        headers = dict(header_params or {})
        if method == "POST" and url.endswith("/payments/buyers"):
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        attempt = 0
        while True:
            wait = 2**attempt
            attempt += 1
            try:
                response = super().call_api(method, url, headers, body, post_params, _request_timeout or LIMIT)
                # All of it, since a connection may break off in the midst of an answer.
                response.read()
                if attempt == ATTEMPTS or response.status not in REPEATED:
                    return response
                after = response.headers.get("Retry-After", "")
                wait = max(wait, int(after)) if after.isdecimal() else wait
            except HTTPError:
                if attempt == ATTEMPTS:
                    raise
            # A little longer by chance, so that many clients do not come back at the same moment.
            time.sleep(wait * random.uniform(1, 1.2))


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Returns the event in a request that was signed with the secret just now; else raises WebhookVerificationError."""
    webhook = Webhook(secret)
    try:
        event: dict[str, Any] = webhook.verify(body, dict(headers))
    except ValueError as error:
        # The library's answer to what is no signature, and to a body that is no text.
        raise WebhookVerificationError("malformed request") from error
    return event
