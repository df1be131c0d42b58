"""The generated Python client against the running service: every kind of answer, read through its types."""

import os
import uuid
from collections.abc import Mapping

from lendpay_partner import (
    ApiClient,
    ApiException,
    BankAccount,
    BuyerType,
    Configuration,
    LendingApi,
    LendingError,
    NewBuyer,
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

BASE = os.environ["LENDPAY_BASE"]
APPLICATION = uuid.UUID(os.environ["LENDPAY_APPLICATION"])
INDICATIVE = uuid.UUID(os.environ["LENDPAY_INDICATIVE"])
DECLINED = uuid.UUID(os.environ["LENDPAY_DECLINED"])


def client(key: str) -> ApiClient:
    return ApiClient(Configuration(host=BASE, api_key={"ApiKey": key}))


def lending_error(error: ApiException) -> LendingError:
    assert isinstance(error.data, LendingError), error
    return error.data


def header(headers: Mapping[str, str] | None, name: str) -> str | None:
    return next((value for key, value in (headers or {}).items() if key.lower() == name.lower()), None)


def create_and_replay(payments: PaymentsApi) -> None:
    account = BankAccount(currency_code="GBP", iban="GB33BUKB20201555555555")
    wanted = NewBuyer(name="Northwind Bicycles Ltd", country_code="GB", type=BuyerType.NUMBER_0, bank_account=account)
    key = str(uuid.uuid4())
    created = payments.create_buyer_with_http_info(wanted, idempotency_key=key)
    assert created.status_code == 201
    buyer = created.data
    assert buyer.name == "Northwind Bicycles Ltd" and buyer.registration_number is None
    assert buyer.type is BuyerType.NUMBER_0
    assert buyer.bank_account is not None and buyer.bank_account.iban == "******************5555"
    assert buyer.bank_account.bic is None
    assert header(created.headers, "Location") == f"/payments/buyers/{buyer.id}"

    again = payments.create_buyer_with_http_info(wanted, idempotency_key=key)
    assert header(again.headers, "Idempotency-Replayed") == "true"
    assert again.data == buyer


def accept_with_nulls(lending: LendingApi) -> None:
    offer = lending.accept_offer(APPLICATION, INDICATIVE)
    assert offer.status is OfferStatus.CUSTOMERACCEPTED and offer.offer_type is OfferType.INDICATIVE
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
        payments.create_buyer(NewBuyer(country_code="XX"))
        raise AssertionError("a buyer of no country was created")
    except BadRequestException as error:
        assert isinstance(error.data, PaymentsError)
        assert error.data.errors[0].startswith("countryCode:")
    try:
        LendingApi(client("lendpay_wrong")).accept_offer(APPLICATION, INDICATIVE)
        raise AssertionError("a wrong key was accepted")
    except UnauthorizedException as error:
        assert lending_error(error).error_code == "InvalidApiKey"


def readme(base: str, key: str, application_id: uuid.UUID, offer_id: uuid.UUID) -> None:
    with ApiClient(Configuration(host=base, api_key={"ApiKey": key})) as api:
        offer = LendingApi(api).accept_offer(application_id, offer_id)
        wanted = NewBuyer(name="Northwind Bicycles Ltd")
        buyer = PaymentsApi(api).create_buyer(wanted, idempotency_key=str(uuid.uuid4()))
        print(offer.status, buyer.id)


def main() -> None:
    with client(os.environ["LENDPAY_KEY"]) as api:
        create_and_replay(PaymentsApi(api))
        accept_with_nulls(LendingApi(api))
        failures(LendingApi(api), PaymentsApi(api))
    readme(BASE, os.environ["LENDPAY_KEY"], APPLICATION, INDICATIVE)
    print("python: all answers as expected")


main()
