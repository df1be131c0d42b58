// The client that @hey-api/openapi-ts makes, against the running service: every answer is held against its zod schema.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createClient, createConfig } from "./client/client/index.js";
import { acceptOffer, createBuyer, getOffer, listBuyers, listEvents } from "./client/sdk.gen.js";
import type { CreateBuyerRequest } from "./client/types.gen.js";
import { zBuyer, zLendingError, zOffer, zPaymentsError } from "./client/zod.gen.js";
import { applicationId, base, declined, indicative, key, offerId, provoked } from "./scenario.js";


const client = (key: string) => createClient(createConfig({ baseUrl: base, headers: { "X-Service-ApiKey": key } }));
const asking = (asked: string) =>
  createClient(createConfig({ baseUrl: base, headers: { "X-Service-ApiKey": key, "X-Sandbox": asked } }));
const api = client(key);

async function createAndReplay(): Promise<void> {
  const body: CreateBuyerRequest = {
    name: "Northwind Bicycles Ltd",
    registrationNumber: null,
    countryCode: "GB",
    type: 0,
    bankAccount: { currencyCode: "GBP", iban: "GB33BUKB20201555555555" },
  };
  const headers = { "Idempotency-Key": randomUUID() };
  const created = await createBuyer({ client: api, headers, body });
  assert.equal(created.response?.status, 201);
  const buyer = zBuyer.parse(created.data);
  assert.equal(buyer.name, "Northwind Bicycles Ltd");
  assert.equal(buyer.registrationNumber, null);
  assert.equal(buyer.type, 0);
  assert.equal(buyer.bankAccount?.iban, "******************5555");
  assert.equal(created.response.headers.get("Location"), `/payments/buyers/${buyer.id}`);

  const again = await createBuyer({ client: api, headers, body });
  assert.deepEqual(again.data, created.data);
  assert.equal(again.response?.headers.get("Idempotency-Replayed"), "true");

  const empty = zBuyer.parse((await createBuyer({ client: api, body: {} })).data);
  assert.equal(empty.type, null);
  assert.equal(empty.bankAccount, null);
}

async function acceptWithNulls(): Promise<void> {
  const { data } = await acceptOffer({ client: api, path: { applicationId, offerId: indicative } });
  const offer = zOffer.parse(data);
  assert.equal(offer.status, "CustomerAccepted");
  assert.equal(offer.offerType, "Indicative");
  assert.equal(offer.amount, null);
  assert.equal(offer.duration, null);
  assert.equal(typeof offer.redirectUrl, "string");
  assert.equal(offer.annualPercentageRate, 0.0905);
}

async function refused(who: typeof api, offerId: string, status: number, code: string): Promise<void> {
  const { error, response } = await acceptOffer({ client: who, path: { applicationId, offerId } });
  assert.equal(response?.status, status);
  assert.equal(zLendingError.parse(error).errorCode, code);
}

async function failures(): Promise<void> {
  await refused(api, randomUUID(), 404, "OfferNotFound");
  await refused(api, declined, 409, "OfferDeclined");
  await refused(client("lendpay_wrong"), indicative, 401, "InvalidApiKey");
  await refused(client("lendpay_sandbox_key_without_areas"), offerId, 403, "InsufficientScope");
  for (const [asked, status, code] of provoked) {
    await refused(asking(asked), offerId, status, code);
  }
  const path = { applicationId, offerId };
  const unchanged = await getOffer({ client: api, path, headers: { "If-None-Match": "*" } });
  assert.equal(unchanged.response?.status, 304);
  const bad = await createBuyer({ client: api, body: { countryCode: "XX" } });
  assert.equal(bad.response?.status, 400);
  assert.match(zPaymentsError.parse(bad.error).errors[0] ?? "", /^countryCode:/);
  const text = await createBuyer({ client: asking("unsupported-media-type"), body: {} });
  assert.equal(text.response?.status, 415);
  zPaymentsError.parse(text.error);
  const used = await createBuyer({ client: api, headers: { "Idempotency-Key": "sandbox-used" }, body: {} });
  assert.equal(used.response?.status, 422);
  zPaymentsError.parse(used.error);
}

async function repeatAfterLostReplies(): Promise<void> {
  const losing = asking("lost-reply");
  const path = { applicationId, offerId };
  assert.equal((await acceptOffer({ client: losing, path })).response, undefined);
  const { data } = await acceptOffer({ client: api, path });
  assert.equal(data?.status, "CustomerAccepted");
  const happened = (await listEvents({ client: api })).data?.items ?? [];
  const accepted = happened.filter((event) => event.type === "offer.accepted" && event.offerId === offerId);
  assert.equal(accepted.length, 1);

  const headers = { "Idempotency-Key": randomUUID() };
  const body: CreateBuyerRequest = { name: "Westwind Bicycles Ltd", registrationNumber: "lost" };
  assert.equal((await createBuyer({ client: losing, headers, body })).response, undefined);
  const again = await createBuyer({ client: api, headers, body });
  assert.equal(again.response?.headers.get("Idempotency-Replayed"), "true");
  const buyers = await listBuyers({ client: api, query: { registrationNumber: "lost" } });
  assert.equal(buyers.data?.items.length, 1);
}

await createAndReplay();
await acceptWithNulls();
await failures();
await repeatAfterLostReplies();
console.log("typescript-zod: all answers as expected");
