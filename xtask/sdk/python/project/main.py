"""The installed package against the running service: what it does besides the client, which ../main.py tries."""

import json
import os
import uuid
from collections.abc import Callable
from typing import Any

from lendpay_partner import (
    ApiException,
    Configuration,
    CreateBuyerRequest,
    LendingApi,
    OfferStatus,
    OfferWebhook,
    PaymentsApi,
)
from lendpay_partner.partner import PartnerClient, WebhookVerificationError, verify_webhook

BASE = os.environ["LENDPAY_BASE"]
KEY = os.environ["LENDPAY_KEY"]
APPLICATION = uuid.UUID(os.environ["LENDPAY_APPLICATION"])
OFFER = uuid.UUID(os.environ["LENDPAY_OFFER"])
DECLINED = uuid.UUID(os.environ["LENDPAY_DECLINED"])
SECRET = os.environ["LENDPAY_WEBHOOK_SECRET"]
USER_AGENT = "lendpay-partner-python/" + os.environ["LENDPAY_VERSION"]
REGISTRATION = os.environ["LENDPAY_REGISTRATION"]


class Disturbed:
    """A client whose first attempt asks the sandbox for something, and which keeps the headers of each attempt."""

    def __init__(self, asked: str | None = None) -> None:
        self.client = PartnerClient(Configuration(host=BASE, api_key={"ApiKey": KEY}))
        self.sent: list[dict[str, str]] = []
        send: Callable[..., Any] = self.client.rest_client.request

        def request(method: str, url: str, headers: dict[str, str], **others: Any) -> Any:
            disturbed = headers | ({"X-Sandbox": asked} if asked and not self.sent else {})
            self.sent.append(disturbed)
            return send(method, url, headers=disturbed, **others)

        setattr(self.client.rest_client, "request", request)


def accept() -> None:
    limited = Disturbed("rate-limited")
    offer = LendingApi(limited.client).accept_offer(APPLICATION, OFFER)
    assert offer.status is OfferStatus.CUSTOMER_ACCEPTED
    assert [headers["User-Agent"] for headers in limited.sent] == [USER_AGENT, USER_AGENT]

    refused = Disturbed()
    try:
        LendingApi(refused.client).accept_offer(APPLICATION, DECLINED)
        raise AssertionError("a declined offer was accepted")
    except ApiException as error:
        assert error.status == 409 and len(refused.sent) == 1


def create_buyer_once() -> None:
    lost = Disturbed("lost-reply")
    payments = PaymentsApi(lost.client)
    buyer = payments.create_buyer(CreateBuyerRequest(registration_number=REGISTRATION))
    first, second = (headers["Idempotency-Key"] for headers in lost.sent)
    assert first == second
    assert [found.id for found in payments.list_buyers(registration_number=REGISTRATION).items] == [buyer.id]

    chosen = Disturbed()
    PaymentsApi(chosen.client).create_buyer(CreateBuyerRequest(), idempotency_key=REGISTRATION)
    assert chosen.sent[0]["Idempotency-Key"] == REGISTRATION


def verified(headers: dict[str, str], body: bytes) -> dict[str, Any] | None:
    try:
        return verify_webhook(SECRET, headers, body)
    except WebhookVerificationError:
        return None


def webhooks() -> None:
    with open(os.environ["LENDPAY_WEBHOOKS"], encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        event = verified(case["headers"], case["body"].encode())
        assert (event is not None) == (case["status"] == 204), case
    headers, body = cases[0]["headers"], cases[0]["body"].encode()
    event = verified(headers, body)
    assert event is not None and event["type"] == "buyer.created"
    for forged in ["v1", "v1,no Base64", "v2," + headers["webhook-signature"][3:], ""]:
        assert verified(headers | {"webhook-signature": forged}, body) is None, forged
    assert verified(headers, b"\xff") is None and verified({}, body) is None
    data = {"applicationId": str(APPLICATION), "offerId": str(OFFER), "status": "CustomerAccepted"}
    accepted = event | {"type": "offer.accepted", "data": data}
    read = OfferWebhook.from_dict(accepted)
    assert read is not None and read.data.status is OfferStatus.CUSTOMER_ACCEPTED


def readme(base: str, key: str, application_id: uuid.UUID, offer_id: uuid.UUID) -> None:
    with PartnerClient(Configuration(host=base, api_key={"ApiKey": key})) as client:
        offer = LendingApi(client).accept_offer(application_id, offer_id)
        buyer = PaymentsApi(client).create_buyer(CreateBuyerRequest(name="Northwind Bicycles Ltd"))
    assert offer.id == offer_id and buyer.name == "Northwind Bicycles Ltd"


accept()
create_buyer_once()
webhooks()
readme(BASE, KEY, APPLICATION, OFFER)
print(f"{REGISTRATION}: the package does as its README says")
