// The installed package against the running service: what it does besides the generated client, which ../main.ts tries.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { env } from "node:process";
import {
  LendingApi,
  OfferWebhookFromJSON,
  PartnerConfiguration,
  PaymentsApi,
  ResponseError,
  verifyWebhook,
  WebhookVerificationError,
  type FetchAPI,
  type WebhookEvent,
} from "lendpay-partner";

function variable(name: string): string {
  const value = env[name];
  assert(value !== undefined, `${name} is not set`);
  return value;
}

const basePath = variable("LENDPAY_BASE");
const key = variable("LENDPAY_KEY");
const applicationId = variable("LENDPAY_APPLICATION");
const declined = variable("LENDPAY_DECLINED");
const offerId = variable("LENDPAY_OFFER");
const secret = variable("LENDPAY_WEBHOOK_SECRET");
const userAgent = `lendpay-partner-typescript/${variable("LENDPAY_VERSION")}`;
const registrationNumber = variable("LENDPAY_REGISTRATION");

/** Settings whose first attempt asks the sandbox for something, and the headers of each attempt. */
function disturbed(asked?: string): { configuration: PartnerConfiguration; sent: Headers[] } {
  const sent: Headers[] = [];
  const fetchApi: FetchAPI = (input, init) => {
    const headers = new Headers(init?.headers);
    if (asked !== undefined && sent.length === 0) headers.set("X-Sandbox", asked);
    sent.push(headers);
    return fetch(input, { ...init, headers });
  };
  return { configuration: new PartnerConfiguration({ basePath, apiKey: key, fetchApi }), sent };
}

async function accept(): Promise<void> {
  const limited = disturbed("rate-limited");
  const offer = await new LendingApi(limited.configuration).acceptOffer({ applicationId, offerId });
  assert.equal(offer.status, "CustomerAccepted");
  assert.deepEqual(limited.sent.map((headers) => headers.get("User-Agent")), [userAgent, userAgent]);

  const refused = disturbed();
  const call = new LendingApi(refused.configuration).acceptOffer({ applicationId, offerId: declined });
  await assert.rejects(call, (error) => error instanceof ResponseError && error.response.status === 409);
  assert.equal(refused.sent.length, 1);
}

async function createBuyerOnce(): Promise<void> {
  const lost = disturbed("lost-reply");
  const payments = new PaymentsApi(lost.configuration);
  const buyer = await payments.createBuyer({ createBuyerRequest: { registrationNumber } });
  const [first, second, ...others] = lost.sent.map((headers) => headers.get("Idempotency-Key"));
  assert(first && first === second && others.length === 0);
  const { items } = await payments.listBuyers({ registrationNumber });
  assert.deepEqual(items.map((found) => found.id), [buyer.id]);

  const chosen = disturbed();
  const idempotencyKey = registrationNumber;
  await new PaymentsApi(chosen.configuration).createBuyer({ createBuyerRequest: {}, idempotencyKey });
  assert.equal(chosen.sent[0]?.get("Idempotency-Key"), idempotencyKey);
}

function verified(headers: Record<string, string>, body: string | Uint8Array): WebhookEvent | undefined {
  try {
    return verifyWebhook(secret, headers, body);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

interface Case {
  headers: Record<string, string>;
  body: string;
  status: number;
}

function webhooks(): void {
  const cases: Case[] = JSON.parse(readFileSync(variable("LENDPAY_WEBHOOKS"), "utf8"));
  for (const { headers, body, status } of cases) {
    const event = verified(headers, new TextEncoder().encode(body));
    assert.equal(event !== undefined, status === 204, JSON.stringify(headers));
  }
  const [signed] = cases;
  assert(signed !== undefined);
  const { headers, body } = signed;
  const event = verifyWebhook(secret, new Headers(headers), body);
  assert.equal(event.type, "buyer.created");
  for (const forged of ["v1", "v1,no Base64", `v2,${headers["webhook-signature"]?.slice(3)}`, ""]) {
    assert.equal(verified({ ...headers, "webhook-signature": forged }, body), undefined, forged);
  }
  assert.equal(verified(headers, Uint8Array.of(0xff)), undefined);
  assert.equal(verified({}, body), undefined);
  const data = { applicationId, offerId, status: "CustomerAccepted" };
  assert.equal(OfferWebhookFromJSON({ ...event, type: "offer.accepted", data }).data.status, "CustomerAccepted");
}

async function readme(): Promise<void> {
  const configuration = new PartnerConfiguration({ basePath, apiKey: key });
  const offer = await new LendingApi(configuration).acceptOffer({ applicationId, offerId });
  const createBuyerRequest = { name: "Northwind Bicycles Ltd" };
  const buyer = await new PaymentsApi(configuration).createBuyer({ createBuyerRequest });
  assert(offer.id === offerId && buyer.name === createBuyerRequest.name);
}

async function main(): Promise<void> {
  await accept();
  await createBuyerOnce();
  webhooks();
  await readme();
  console.log(`${registrationNumber}: the package does as its README says`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
