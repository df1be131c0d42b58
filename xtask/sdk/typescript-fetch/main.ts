// The generated TypeScript client, which brings its own calls, against the running service: every kind of answer, read
// through its types.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  Configuration,
  EventsApi,
  FetchError,
  LendingApi,
  LendingErrorFromJSON,
  PaymentsApi,
  PaymentsErrorFromJSON,
  ResponseError,
  type CreateBuyerRequest,
} from "./client/index";
import { applicationId, base, declined, indicative, key, offerId, provoked } from "./scenario";

const configuration = (apiKey: string) => new Configuration({ basePath: base, apiKey });
const asking = (asked: string) => new Configuration({ basePath: base, apiKey: key, headers: { "X-Sandbox": asked } });
const lending = new LendingApi(configuration(key));
const payments = new PaymentsApi(configuration(key));

async function createAndReplay(): Promise<void> {
  const createBuyerRequest: CreateBuyerRequest = {
    name: "Northwind Bicycles Ltd",
    registrationNumber: null,
    countryCode: "GB",
    type: 0,
    bankAccount: { currencyCode: "GBP", iban: "GB33BUKB20201555555555" },
  };
  const idempotencyKey = randomUUID();
  const created = await payments.createBuyerRaw({ createBuyerRequest, idempotencyKey });
  const buyer = await created.value();
  assert.equal(created.raw.status, 201);
  assert.equal(buyer.name, "Northwind Bicycles Ltd");
  assert.equal(buyer.registrationNumber, null);
  assert.equal(buyer.type, 0);
  assert.equal(buyer.bankAccount?.iban, "******************5555");
  assert(buyer.createdAt instanceof Date);

  const again = await payments.createBuyerRaw({ createBuyerRequest, idempotencyKey });
  assert.deepEqual(await again.value(), buyer);
  assert.equal(again.raw.headers.get("Idempotency-Replayed"), "true");
}

async function acceptWithNulls(): Promise<void> {
  const offer = await lending.acceptOffer({ applicationId, offerId: indicative });
  assert.equal(offer.status, "CustomerAccepted");
  assert.equal(offer.offerType, "Indicative");
  assert.equal(offer.amount, null);
  assert.equal(offer.duration, null);
  assert.equal(typeof offer.redirectUrl, "string");
  assert.equal(offer.annualPercentageRate, 0.0905);
  assert(offer.statusChangedAt instanceof Date);
}

async function failure(call: Promise<unknown>, status: number): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    assert(error instanceof ResponseError, String(error));
    assert.equal(error.response.status, status);
    return status === 304 ? null : error.response.json();
  }
  return assert.fail(`no failure where ${status} was due`);
}

async function refused(who: LendingApi, offerId: string, status: number, code: string): Promise<void> {
  const body = await failure(who.acceptOffer({ applicationId, offerId }), status);
  assert.equal(LendingErrorFromJSON(body).errorCode, code);
}

async function failures(): Promise<void> {
  await refused(lending, randomUUID(), 404, "OfferNotFound");
  await refused(lending, declined, 409, "OfferDeclined");
  await refused(new LendingApi(configuration("lendpay_wrong")), indicative, 401, "InvalidApiKey");
  const bad = await failure(payments.createBuyer({ createBuyerRequest: { countryCode: "XX" } }), 400);
  assert.match(PaymentsErrorFromJSON(bad).errors[0] ?? "", /^countryCode:/);
}

async function everyOtherStatus(): Promise<void> {
  for (const [asked, status, code] of provoked) {
    await refused(new LendingApi(asking(asked)), offerId, status, code);
  }
  const stranger = new LendingApi(configuration("lendpay_sandbox_key_without_areas"));
  await refused(stranger, offerId, 403, "InsufficientScope");
  await failure(lending.getOffer({ applicationId, offerId, ifNoneMatch: "*" }), 304);
  const text = new PaymentsApi(asking("unsupported-media-type"));
  const unsupported = await failure(text.createBuyer({ createBuyerRequest: {} }), 415);
  assert.notEqual(PaymentsErrorFromJSON(unsupported).title, undefined);
  const used = await failure(payments.createBuyer({ createBuyerRequest: {}, idempotencyKey: "sandbox-used" }), 422);
  assert.notEqual(PaymentsErrorFromJSON(used).title, undefined);
}

async function repeatAfterLostReplies(): Promise<void> {
  const losing = asking("lost-reply");
  await assert.rejects(new LendingApi(losing).acceptOffer({ applicationId, offerId }), FetchError);
  const offer = await lending.acceptOffer({ applicationId, offerId });
  assert.equal(offer.status, "CustomerAccepted");
  const { items } = await new EventsApi(configuration(key)).listEvents();
  const accepted = items.filter((event) => event.type === "offer.accepted" && event.offerId === offerId);
  assert.equal(accepted.length, 1);

  const createBuyerRequest: CreateBuyerRequest = { name: "Westwind Bicycles Ltd", registrationNumber: "lost" };
  const idempotencyKey = randomUUID();
  await assert.rejects(new PaymentsApi(losing).createBuyer({ createBuyerRequest, idempotencyKey }), FetchError);
  const again = await payments.createBuyerRaw({ createBuyerRequest, idempotencyKey });
  assert.equal(again.raw.headers.get("Idempotency-Replayed"), "true");
  const buyers = await payments.listBuyers({ registrationNumber: "lost" });
  assert.equal(buyers.items.length, 1);
}

async function readme(basePath: string, key: string, applicationId: string, offerId: string): Promise<void> {
  const configuration = new Configuration({ basePath, apiKey: key });
  const offer = await new LendingApi(configuration).acceptOffer({ applicationId, offerId });
  const createBuyerRequest = { name: "Northwind Bicycles Ltd" };
  const idempotencyKey = crypto.randomUUID();
  const buyer = await new PaymentsApi(configuration).createBuyer({ createBuyerRequest, idempotencyKey });
  assert(offer.id === offerId && buyer.id !== "");
}

async function main(): Promise<void> {
  await createAndReplay();
  await acceptWithNulls();
  await failures();
  await everyOtherStatus();
  await repeatAfterLostReplies();
  await readme(base, key, applicationId, indicative);
  console.log("typescript-fetch: all answers as expected");
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
