// What the programs in TypeScript have in common: what there is in the sandbox, and what it is asked for.

import assert from "node:assert/strict";
import { env } from "node:process";

function variable(name: string): string {
  const value = env[name];
  assert(value !== undefined, `${name} is not set`);
  return value;
}

export const base = variable("LENDPAY_BASE");
export const applicationId = variable("LENDPAY_APPLICATION");
export const indicative = variable("LENDPAY_INDICATIVE");
export const declined = variable("LENDPAY_DECLINED");
export const offerId = variable("LENDPAY_OFFER");
export const key = variable("LENDPAY_KEY");

// What the sandbox is asked for, and what AcceptOffer answers then.
export const provoked: [string, number, string][] = [
  ["bad-request", 400, "BadRequest"],
  ["timeout", 408, "Timeout"],
  ["request-too-large", 413, "RequestTooLarge"],
  ["rate-limited", 429, "RateLimited"],
  ["internal-error", 500, "InternalError"],
  ["unavailable", 503, "Unavailable"],
];
