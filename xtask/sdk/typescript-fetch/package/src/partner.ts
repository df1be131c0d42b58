// What the package adds to the generated client: repeats, idempotency keys, a user agent, and the check of webhooks.

import { Webhook } from "standardwebhooks";
import { Configuration, type ConfigurationParameters, type FetchAPI } from "./client/index.js";

export { WebhookVerificationError } from "standardwebhooks";

/** How often a call is made at the most. */
const ATTEMPTS = 6;
/** Milliseconds for one attempt: more than the service's own limit, so that its answer is got. */
const LIMIT = 35_000;
/** What is answered when the same request may succeed later. */
const REPEATED = [408, 429, 500, 503];

/** Settings of a client that repeats what the README names, so that each call is carried out once in the end. */
export class PartnerConfiguration extends Configuration {
  constructor(parameters: ConfigurationParameters) {
    const headers = { ...parameters.headers, "User-Agent": "lendpay-partner-typescript/@VERSION@" };
    super({ ...parameters, headers, fetchApi: repeating(parameters.fetchApi ?? fetch) });
  }
}

function repeating(send: FetchAPI): FetchAPI {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (init.method === "POST" && String(input).endsWith("/payments/buyers") && !headers.has("Idempotency-Key")) {
      headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 1; ; attempt += 1) {
      let wait = 2 ** (attempt - 1);
      try {
        const limit = AbortSignal.timeout(LIMIT);
        const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
        const response = await whole(await send(input, { ...init, headers, signal }));
        if (attempt === ATTEMPTS || !REPEATED.includes(response.status)) return response;
        wait = Math.max(wait, Number(response.headers.get("Retry-After")) || 0);
      } catch (error) {
        if (attempt === ATTEMPTS || init.signal?.aborted) throw error;
      }
      // A little longer by chance, so that many clients do not come back at the same moment.
      const milliseconds = wait * 1000 * (1 + Math.random() / 5);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    }
  };
}

/** A response whose body is here already, since a connection may break off in its midst. */
async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  return new Response(body.byteLength > 0 ? body : null, response);
}

/** An event, as a webhook brings it. */
export interface WebhookEvent {
  type: string;
  timestamp: string;
  sequence: number;
  data: Record<string, string>;
}

/**
 * Returns the event in a request, or throws a WebhookVerificationError unless it was signed with the secret just now.
 *
 * @param body what arrived, before it is parsed
 */
export function verifyWebhook(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
): WebhookEvent {
  const all = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return new Webhook(secret).verify(text, all as Record<string, string>) as WebhookEvent;
}
