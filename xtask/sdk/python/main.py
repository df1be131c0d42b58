"""The generated Python client against the running service: every kind of answer, read through its types."""

import uuid
from collections.abc import Callable, Mapping

from lendpay_partner import (
    ApiClient,
    ApiException,
    BankAccount,
    BuyerType,
    Configuration,
    CreateBuyerRequest,
    EventsApi,
    LendingApi,
    LendingError,
    OfferStatus,
    OfferType,
    PaymentsApi,
    PaymentsError,
)
from lendpay_partner.exceptions import (
    BadRequestException,
    ConflictException,
    NotFoundException,
    UnauthorizedException,
)
from scenario import APPLICATION, BASE, DECLINED, INDICATIVE, KEY, OFFER, PROVOKED
from urllib3.exceptions import HTTPError


def client(key: str, asked: str | None = None) -> ApiClient:
    configuration = Configuration(host=BASE, api_key={"ApiKey": key})
    return ApiClient(configuration, "X-Sandbox" if asked else None, asked)


def lending_error(error: ApiException) -> LendingError:
    assert isinstance(error.data, LendingError), error
    return error.data


def header(headers: Mapping[str, str] | None, name: str) -> str | None:
    return next((value for key, value in (headers or {}).items() if key.lower() == name.lower()), None)


def create_and_replay(payments: PaymentsApi) -> None:
    account = BankAccount(currency_code="GBP", iban="GB33BUKB20201555555555")
    wanted = CreateBuyerRequest(name="Northwind Bicycles Ltd", country_code="GB", type=BuyerType.COMPANY)
    wanted.bank_account = account
    key = str(uuid.uuid4())
    created = payments.create_buyer_with_http_info(wanted, idempotency_key=key)
    assert created.status_code == 201
    buyer = created.data
    assert buyer.name == "Northwind Bicycles Ltd" and buyer.registration_number is None
    assert buyer.type is BuyerType.COMPANY
    assert buyer.bank_account is not None and buyer.bank_account.iban == "******************5555"
    assert buyer.bank_account.bic is None
    assert header(created.headers, "Location") == f"/payments/buyers/{buyer.id}"

    again = payments.create_buyer_with_http_info(wanted, idempotency_key=key)
    assert header(again.headers, "Idempotency-Replayed") == "true"
    assert again.data == buyer


def accept_with_nulls(lending: LendingApi) -> None:
    offer = lending.accept_offer(APPLICATION, INDICATIVE)
    assert offer.status is OfferStatus.CUSTOMER_ACCEPTED and offer.offer_type is OfferType.INDICATIVE
    assert offer.amount is None and offer.duration is None
    assert offer.redirect_url is not None and offer.annual_percentage_rate == 0.0905
    assert offer.status_changed_at.tzinfo is not None


def failures(lending: LendingApi, payments: PaymentsApi) -> None:
    try:
        lending.accept_offer(APPLICATION, uuid.uuid4())
        raise AssertionError("an unknown offer was accepted")
    except NotFoundException as error:
        assert lending_error(error).error_code == "OfferNotFound"
    try:
        lending.accept_offer(APPLICATION, DECLINED)
        raise AssertionError("a declined offer was accepted")
    except ConflictException as error:
        assert lending_error(error).error_code == "OfferDeclined"
    try:
        payments.create_buyer(CreateBuyerRequest(country_code="XX"))
        raise AssertionError("a buyer of no country was created")
    except BadRequestException as error:
        assert isinstance(error.data, PaymentsError)
        assert error.data.errors[0].startswith("countryCode:")
    try:
        LendingApi(client("lendpay_wrong")).accept_offer(APPLICATION, INDICATIVE)
        raise AssertionError("a wrong key was accepted")
    except UnauthorizedException as error:
        assert lending_error(error).error_code == "InvalidApiKey"


def failure(call: Callable[[], object]) -> ApiException:
    try:
        call()
    except ApiException as error:
        return error
    raise AssertionError("no failure where one was due")


def every_other_status(lending: LendingApi, payments: PaymentsApi) -> None:
    for asked, status, code in PROVOKED:
        provoked = LendingApi(client(KEY, asked))
        error = failure(lambda: provoked.accept_offer(APPLICATION, OFFER))
        assert (error.status, lending_error(error).error_code) == (status, code)
    stranger = LendingApi(client("lendpay_sandbox_key_without_areas"))
    error = failure(lambda: stranger.accept_offer(APPLICATION, OFFER))
    assert (error.status, lending_error(error).error_code) == (403, "InsufficientScope")
    error = failure(lambda: lending.get_offer(APPLICATION, OFFER, if_none_match="*"))
    assert error.status == 304
    text = PaymentsApi(client(KEY, "unsupported-media-type"))
    error = failure(lambda: text.create_buyer(CreateBuyerRequest()))
    assert error.status == 415 and isinstance(error.data, PaymentsError)
    error = failure(lambda: payments.create_buyer(CreateBuyerRequest(), idempotency_key="sandbox-used"))
    assert error.status == 422 and isinstance(error.data, PaymentsError)


def lost(call: Callable[[], object]) -> None:
    try:
        call()
    except HTTPError:
        return
    raise AssertionError("a reply that should be lost")


def repeat_after_lost_replies(lending: LendingApi, payments: PaymentsApi, events: EventsApi) -> None:
    losing = client(KEY, "lost-reply")
    lost(lambda: LendingApi(losing).accept_offer(APPLICATION, OFFER))
    assert lending.accept_offer(APPLICATION, OFFER).status is OfferStatus.CUSTOMER_ACCEPTED
    happened = [event.offer_id for event in events.list_events().items if event.type.value == "offer.accepted"]
    assert happened.count(OFFER) == 1

    wanted = CreateBuyerRequest(name="Westwind Bicycles Ltd", registration_number="lost")
    key = str(uuid.uuid4())
    lost(lambda: PaymentsApi(losing).create_buyer(wanted, idempotency_key=key))
    again = payments.create_buyer_with_http_info(wanted, idempotency_key=key)
    assert header(again.headers, "Idempotency-Replayed") == "true"
    assert len(payments.list_buyers(registration_number="lost").items) == 1


def readme(base: str, key: str, application_id: uuid.UUID, offer_id: uuid.UUID) -> None:
    with ApiClient(Configuration(host=base, api_key={"ApiKey": key})) as api:
        offer = LendingApi(api).accept_offer(application_id, offer_id)
        wanted = CreateBuyerRequest(name="Northwind Bicycles Ltd")
        buyer = PaymentsApi(api).create_buyer(wanted, idempotency_key=str(uuid.uuid4()))
        print(offer.status, buyer.id)


def main() -> None:
    with client(KEY) as api:
        create_and_replay(PaymentsApi(api))
        accept_with_nulls(LendingApi(api))
        failures(LendingApi(api), PaymentsApi(api))
        every_other_status(LendingApi(api), PaymentsApi(api))
        repeat_after_lost_replies(LendingApi(api), PaymentsApi(api), EventsApi(api))
    readme(BASE, KEY, APPLICATION, INDICATIVE)
    print("python: all answers as expected")


main()
