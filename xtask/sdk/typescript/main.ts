// The generated types with openapi-fetch against the running service: every kind of answer, read through its types.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./client/schema.js";
import { applicationId, base, declined, indicative, key, offerId, provoked } from "./scenario.js";

type CreateBuyerRequest = components["schemas"]["CreateBuyerRequest"];

const accept = "/lending/applications/{applicationId}/offers/{offerId}/accept";

const client = (key: string) => createClient<paths>({ baseUrl: base, headers: { "X-Service-ApiKey": key } });
const asking = (asked: string) =>
  createClient<paths>({ baseUrl: base, headers: { "X-Service-ApiKey": key, "X-Sandbox": asked } });
const api = client(key);

async function createAndReplay(): Promise<void> {
  const body: CreateBuyerRequest = {
    name: "Northwind Bicycles Ltd",
    registrationNumber: null,
    countryCode: "GB",
    type: 0,
    bankAccount: { currencyCode: "GBP", iban: "GB33BUKB20201555555555" },
  };
  const header = { "Idempotency-Key": randomUUID() };
  const created = await api.POST("/payments/buyers", { params: { header }, body });
  assert(created.data !== undefined, JSON.stringify(created.error));
  assert.equal(created.response.status, 201);
  assert.equal(created.data.name, "Northwind Bicycles Ltd");
  assert.equal(created.data.registrationNumber, null);
  assert.equal(created.data.type, 0);
  assert.equal(created.data.bankAccount?.iban, "******************5555");
  assert.equal(created.response.headers.get("Location"), `/payments/buyers/${created.data.id}`);

  const again = await api.POST("/payments/buyers", { params: { header }, body });
  assert.deepEqual(again.data, created.data);
  assert.equal(again.response.headers.get("Idempotency-Replayed"), "true");
}

async function acceptWithNulls(): Promise<void> {
  const { data, error } = await api.POST(accept, { params: { path: { applicationId, offerId: indicative } } });
  assert(data !== undefined, JSON.stringify(error));
  assert.equal(data.status, "CustomerAccepted");
  assert.equal(data.offerType, "Indicative");
  assert.equal(data.amount, null);
  assert.equal(data.duration, null);
  assert.equal(typeof data.redirectUrl, "string");
  assert.equal(data.annualPercentageRate, 0.0905);
}

async function refused(who: typeof api, offerId: string, status: number, code: string): Promise<void> {
  const { error, response } = await who.POST(accept, { params: { path: { applicationId, offerId } } });
  assert.equal(response.status, status);
  assert.equal(error?.errorCode, code);
}

async function failures(): Promise<void> {
  await refused(api, randomUUID(), 404, "OfferNotFound");
  await refused(api, declined, 409, "OfferDeclined");
  await refused(client("lendpay_wrong"), indicative, 401, "InvalidApiKey");
  const bad = await api.POST("/payments/buyers", { body: { countryCode: "XX" } });
  assert.equal(bad.response.status, 400);
  assert.match(bad.error?.errors[0] ?? "", /^countryCode:/);
}

async function everyOtherStatus(): Promise<void> {
  for (const [asked, status, code] of provoked) {
    await refused(asking(asked), offerId, status, code);
  }
  await refused(client("lendpay_sandbox_key_without_areas"), offerId, 403, "InsufficientScope");
  const params = { path: { applicationId, offerId }, header: { "If-None-Match": "*" } };
  const unchanged = await api.GET("/lending/applications/{applicationId}/offers/{offerId}", { params });
  assert.equal(unchanged.response.status, 304);
  const text = await asking("unsupported-media-type").POST("/payments/buyers", { body: {} });
  assert.equal(text.response.status, 415);
  assert.notEqual(text.error?.title, undefined);
  const header = { "Idempotency-Key": "sandbox-used" };
  const used = await api.POST("/payments/buyers", { params: { header }, body: {} });
  assert.equal(used.response.status, 422);
  assert.notEqual(used.error?.title, undefined);
}

async function repeatAfterLostReplies(): Promise<void> {
  const losing = asking("lost-reply");
  const params = { path: { applicationId, offerId } };
  await assert.rejects(losing.POST(accept, { params }), TypeError);
  const { data } = await api.POST(accept, { params });
  assert.equal(data?.status, "CustomerAccepted");
  const happened = (await api.GET("/events")).data?.items ?? [];
  const accepted = happened.filter((event) => event.type === "offer.accepted" && event.offerId === offerId);
  assert.equal(accepted.length, 1);

  const header = { "Idempotency-Key": randomUUID() };
  const body: CreateBuyerRequest = { name: "Westwind Bicycles Ltd", registrationNumber: "lost" };
  await assert.rejects(losing.POST("/payments/buyers", { params: { header }, body }), TypeError);
  const again = await api.POST("/payments/buyers", { params: { header }, body });
  assert.equal(again.response.headers.get("Idempotency-Replayed"), "true");
  const buyers = await api.GET("/payments/buyers", { params: { query: { registrationNumber: "lost" } } });
  assert.equal(buyers.data?.items.length, 1);
}

async function readme(baseUrl: string, key: string, applicationId: string, offerId: string): Promise<void> {
  const api = createClient<paths>({ baseUrl, headers: { "X-Service-ApiKey": key } });
  const accept = "/lending/applications/{applicationId}/offers/{offerId}/accept";
  const { data: offer, error } = await api.POST(accept, { params: { path: { applicationId, offerId } } });
  const header = { "Idempotency-Key": crypto.randomUUID() };
  const { data: buyer } = await api.POST("/payments/buyers", { params: { header }, body: { name: "Northwind Bicycles Ltd" } });
  assert(offer !== undefined && buyer !== undefined, error?.message);
}

await createAndReplay();
await acceptWithNulls();
await failures();
await everyOtherStatus();
await repeatAfterLostReplies();
await readme(base, key, applicationId, indicative);
console.log("typescript: all answers as expected");
