"""The Python client that openapi-python-client makes, against the running service: every kind of answer, by its types."""

import uuid
from http import HTTPStatus

import httpx
from lendpay_partner_httpx import AuthenticatedClient
from lendpay_partner_httpx.api.events import list_events
from lendpay_partner_httpx.api.lending import accept_offer, get_offer
from lendpay_partner_httpx.api.payments import create_buyer, list_buyers
from lendpay_partner_httpx.models import (
    BankAccount,
    Buyer,
    BuyerList,
    BuyerType,
    CreateBuyerRequest,
    EventList,
    EventType,
    LendingError,
    Offer,
    OfferStatus,
    OfferType,
    PaymentsError,
)
from scenario import APPLICATION, BASE, DECLINED, INDICATIVE, KEY, OFFER, PROVOKED


def client(key: str, asked: str | None = None) -> AuthenticatedClient:
    headers = {"X-Sandbox": asked} if asked else {}
    return AuthenticatedClient(BASE, key, prefix="", auth_header_name="X-Service-ApiKey", headers=headers)


def refused(who: AuthenticatedClient, offer: uuid.UUID, status: int, code: str) -> None:
    answer = accept_offer.sync_detailed(APPLICATION, offer, client=who)
    assert answer.status_code == status, answer
    assert isinstance(answer.parsed, LendingError) and answer.parsed.error_code == code, answer


def create_and_replay(api: AuthenticatedClient) -> None:
    account = BankAccount(currency_code="GBP", iban="GB33BUKB20201555555555")
    wanted = CreateBuyerRequest(
        name="Northwind Bicycles Ltd", country_code="GB", type_=BuyerType.COMPANY, bank_account=account
    )
    key = str(uuid.uuid4())
    created = create_buyer.sync_detailed(client=api, body=wanted, idempotency_key=key)
    assert created.status_code is HTTPStatus.CREATED
    buyer = created.parsed
    assert isinstance(buyer, Buyer)
    assert buyer.name == "Northwind Bicycles Ltd" and buyer.registration_number is None
    assert buyer.type_ is BuyerType.COMPANY
    assert buyer.bank_account is not None and buyer.bank_account.iban == "******************5555"
    assert buyer.bank_account.bic is None
    assert created.headers["Location"] == f"/payments/buyers/{buyer.id}"

    again = create_buyer.sync_detailed(client=api, body=wanted, idempotency_key=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.parsed == buyer

    empty = create_buyer.sync(client=api, body=CreateBuyerRequest())
    assert isinstance(empty, Buyer) and empty.type_ is None and empty.bank_account is None


def accept_with_nulls(api: AuthenticatedClient) -> None:
    offer = accept_offer.sync(APPLICATION, INDICATIVE, client=api)
    assert isinstance(offer, Offer)
    assert offer.status is OfferStatus.CUSTOMER_ACCEPTED and offer.offer_type is OfferType.INDICATIVE
    assert offer.amount is None and offer.duration is None
    assert offer.redirect_url is not None and offer.annual_percentage_rate == 0.0905
    assert offer.status_changed_at.tzinfo is not None


def failures(api: AuthenticatedClient) -> None:
    refused(api, uuid.uuid4(), 404, "OfferNotFound")
    refused(api, DECLINED, 409, "OfferDeclined")
    refused(client("lendpay_wrong"), INDICATIVE, 401, "InvalidApiKey")
    refused(client("lendpay_sandbox_key_without_areas"), OFFER, 403, "InsufficientScope")
    for asked, status, code in PROVOKED:
        refused(client(KEY, asked), OFFER, status, code)
    assert get_offer.sync_detailed(APPLICATION, OFFER, client=api, if_none_match="*").status_code == 304
    nowhere = create_buyer.sync(client=api, body=CreateBuyerRequest(country_code="XX"))
    assert isinstance(nowhere, PaymentsError) and nowhere.errors[0].startswith("countryCode:")
    text = create_buyer.sync_detailed(client=client(KEY, "unsupported-media-type"), body=CreateBuyerRequest())
    assert text.status_code == 415 and isinstance(text.parsed, PaymentsError)
    used = create_buyer.sync_detailed(client=api, body=CreateBuyerRequest(), idempotency_key="sandbox-used")
    assert used.status_code == 422 and isinstance(used.parsed, PaymentsError)


def repeat_after_lost_replies(api: AuthenticatedClient) -> None:
    losing = client(KEY, "lost-reply")
    try:
        accept_offer.sync(APPLICATION, OFFER, client=losing)
        raise AssertionError("a reply that should be lost")
    except httpx.TransportError:
        pass
    offer = accept_offer.sync(APPLICATION, OFFER, client=api)
    assert isinstance(offer, Offer) and offer.status is OfferStatus.CUSTOMER_ACCEPTED
    events = list_events.sync(client=api)
    assert isinstance(events, EventList)
    accepted = [event.offer_id for event in events.items if event.type_ is EventType.OFFER_ACCEPTED]
    assert accepted.count(OFFER) == 1

    wanted = CreateBuyerRequest(name="Westwind Bicycles Ltd", registration_number="lost")
    key = str(uuid.uuid4())
    try:
        create_buyer.sync(client=losing, body=wanted, idempotency_key=key)
        raise AssertionError("a reply that should be lost")
    except httpx.TransportError:
        pass
    again = create_buyer.sync_detailed(client=api, body=wanted, idempotency_key=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    buyers = list_buyers.sync(client=api, registration_number="lost")
    assert isinstance(buyers, BuyerList) and len(buyers.items) == 1


def main() -> None:
    with client(KEY) as api:
        create_and_replay(api)
        accept_with_nulls(api)
        failures(api)
        repeat_after_lost_replies(api)
    print("python-httpx: all answers as expected")


main()
