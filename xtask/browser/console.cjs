// Walks through the operator's console in Debian's Chromium: by mouse and by keyboard alone, both without JavaScript; then
// looks at every page on a desktop and on a phone, light and dark, with axe-core and Lighthouse, and takes a screenshot of each.

"use strict";

const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");
const { mkdirSync } = require("node:fs");
const { watch } = require("./chromium.cjs");
const { judge, launchForLighthouse, score } = require("./judges.cjs");

const { LENDPAY_OPERATOR: base, LENDPAY_PARTNER: partnerBase, LENDPAY_OPERATOR_KEY: key, LENDPAY_SHOTS: shots } = process.env;
const HOME = `${base}/operator/console`;

/** The most clicks to what became of an operation, that to sign in included. */
const CLICKS = 4;

async function main() {
  const things = await fill();
  const { browser, port } = await launchForLighthouse();
  try {
    const clicks = await answerTheTelephone(browser, things);
    await byMouse(browser, things);
    await byKeyboard(browser, things);
    const session = await signedIn(browser);
    const views = pages(things);
    for (const [name, view] of Object.entries(views)) {
      await look(browser, name, view, session);
    }
    const cookie = session.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    for (const [name, { path, status }] of Object.entries(views)) {
      const extraHeaders = name === "sign-in" ? {} : { Cookie: cookie };
      const refused = status === undefined ? {} : { ignoreStatusCode: true, skipAudits: ["errors-in-console"] };
      await score(name, HOME + path, port, { extraHeaders, ...refused });
    }
    return `${Object.keys(views).length} pages seen, ${clicks} clicks to what became of a call`;
  } finally {
    await browser.close();
  }
}

async function call(method, path, body) {
  const headers = { "X-Operator-Key": key, "Content-Type": "application/json" };
  const answer = await fetch(`${base}/operator${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** A partner with keys, an application, offers and a buyer, and a call that was refused yesterday. */
async function fill() {
  const [partner, application, ...offers] = Array.from({ length: 7 }, randomUUID);
  await call("PUT", `/partners/${partner}`, { name: "Northwind Platform", oauthClientId: "northwind" });
  const made = await call("POST", `/partners/${partner}/keys`, { name: "Production 2026", areas: ["lending", "payments"] });
  const until = { name: "Reports", areas: ["lending"], access: "read", expiresAt: "2099-12-31T00:00:00Z" };
  await call("POST", `/partners/${partner}/keys`, until);
  await call("POST", "/webhooks", { partnerId: partner, url: "https://platform.example/lendpay" });
  await call("PUT", `/applications/${application}`, { partnerId: partner });
  const terms = {
    details: "Fixed rate over two years", fundingType: "TermLoan", offerType: "Underwritten", annualPercentageRate: 0.0905,
    interestRate: 0.085, expiryAt: "2099-12-31T00:00:00Z", redirectUrl: "https://onboarding.example/loans/1", amount: 25000.55,
    duration: "TwoYears",
  };
  for (const offer of offers) {
    await call("PUT", `/applications/${application}/offers/${offer}`, terms);
  }
  const [refused, accepted] = offers;
  await call("PUT", `/applications/${application}/offers/${refused}`, { ...terms, amount: 24000 });
  await call("POST", `/applications/${application}/offers/${refused}/archive`, {});
  const headers = { "X-Service-ApiKey": made.key, "Content-Type": "application/json" };
  const asPartner = (path, body) => fetch(partnerBase + path, { method: "POST", headers, body: JSON.stringify(body) });
  const accept = (offer) => asPartner(`/lending/applications/${application}/offers/${offer}/accept`, {});
  const { operationId } = await (await accept(refused)).json();
  await accept(accepted);
  await call("POST", `/applications/${application}/offers/${accepted}/advance`, {});
  const bankAccount = { currencyCode: "GBP", accountName: "Northwind", iban: "GB33BUKB20201555555555", bic: "BUKBGB22" };
  const company = { name: "Northwind Bicycles Ltd", registrationNumber: "09876543", countryCode: "GB", type: 0, bankAccount };
  const buyer = (await (await asPartner("/payments/buyers", company)).json()).id;
  // Refused calls are kept twice a second.
  for (;;) {
    const { calls } = await call("GET", `/operations/${operationId}`);
    if (calls.length > 0) {
      return { partner, application, offers, operationId, buyer, key: made.keyId };
    }
  }
}

/** A page of a browser without JavaScript, at the console's first page. */
async function plainPage(browser, options) {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(HOME);
  return page;
}

async function see(page, ...texts) {
  for (const text of texts) {
    await page.getByText(text).filter({ visible: true }).first().waitFor();
  }
}

/** "Our customer accepted yesterday and we got an error, operation X", by somebody who has never seen the console. */
async function answerTheTelephone(browser, { operationId, offers }) {
  const page = await plainPage(browser);
  let clicks = 0;
  const click = async (role, name) => {
    clicks += 1;
    await page.getByRole(role, { name }).first().click();
  };
  await page.getByLabel("Your key").fill(key);
  await click("button", "Sign in");
  await page.getByLabel("Search").fill(operationId);
  await click("button", "Search");
  await see(page, "What became of it", "409 OfferArchived", "An offer that is Archived cannot become CustomerAccepted.");
  // And who archived it.
  await click("link", offers[0]);
  await see(page, "offer.archived", "Archived");
  assert(clicks <= CLICKS, `${clicks} clicks`);
  await page.context().close();
  return clicks;
}

async function byMouse(browser, { partner, offers, buyer, key: keyId }) {
  const page = await plainPage(browser);
  const find = async (text) => {
    await page.getByLabel("Search").fill(text);
    await page.getByRole("button", { name: "Search" }).click();
  };
  const press = (name) => page.getByRole("button", { name }).click();
  const follow = (name) => page.getByRole("link", { name }).first().click();
  await page.getByLabel("Your key").fill("no operator's key");
  await press("Sign in");
  await see(page, "No operator has this key.");
  await page.getByLabel("Your key").fill(key);
  await press("Sign in");
  await follow("Partners");
  await follow("Northwind Platform");
  await see(page, "Production 2026", "Reports", keyId, "https://platform.example/lendpay");
  await follow("Events of this partner");
  await see(page, "key.created");
  await find("northwind");
  await follow("Buyers of this partner");
  await follow(buyer);
  await see(page, "******************5555");
  await press("Show the details in full");
  await see(page, "GB33BUKB20201555555555");
  await find(keyId);
  assert(page.url().endsWith(`partners/${partner}#key-${keyId}`), page.url());
  await find(offers[2]);
  await follow("Decline this offer …");
  await page.getByLabel("Why did the customer turn it down?").fill("Found a cheaper loan");
  await press("Decline …");
  await see(page, "Really decline it?", "Found a cheaper loan");
  await press("Yes, decline it");
  await see(page, "CustomerDeclined", "Reason: Found a cheaper loan");
  await follow("Events");
  await page.getByLabel("Type").selectOption({ label: "Audit: what only operators see" });
  await press("Show");
  await see(page, "buyer.read_in_full");
  await press("Sign out");
  await see(page, "Your key");
  await page.goto(`${HOME}/partners`);
  await see(page, "Your key");
  await page.context().close();
}

async function byKeyboard(browser, { offers, buyer, operationId }) {
  const page = await plainPage(browser);
  /** Goes on until what has this name has the focus, which must be seen. */
  const tabTo = async (name) => {
    for (let n = 0; n < 100; n += 1) {
      await page.keyboard.press("Tab");
      const { says, outline } = await page.evaluate(() => {
        const at = document.activeElement;
        const label = at.labels?.[0]?.textContent ?? at.getAttribute("aria-label") ?? at.textContent;
        return { says: label.trim(), outline: getComputedStyle(at).outlineStyle };
      });
      if (says.startsWith(name)) {
        assert.notEqual(outline, "none", `the focus on ${name} cannot be seen`);
        return;
      }
    }
    assert.fail(`no way to ${name} by keyboard on ${page.url()}`);
  };
  const type = async (name, text) => {
    await tabTo(name);
    await page.keyboard.press("Control+A");
    await page.keyboard.type(text);
  };
  const enter = async () => {
    await Promise.all([page.waitForEvent("framenavigated"), page.keyboard.press("Enter")]);
    await page.waitForLoadState();
  };
  const find = async (text) => {
    await type("Search", text);
    await enter();
  };
  await type("Your key", key);
  await enter();
  await tabTo("Skip to the content");
  await find(operationId);
  await see(page, "409 OfferArchived");
  await find("northwind platform");
  await see(page, "Production 2026");
  await find(buyer);
  await tabTo("Show the details in full");
  await enter();
  await see(page, "GB33BUKB20201555555555");
  await find(offers[3]);
  await tabTo("Decline this offer");
  await enter();
  await type("Why did the customer turn it down?", "Wants more time");
  await tabTo("Decline …");
  await enter();
  await tabTo("Yes, decline it");
  await enter();
  await see(page, "CustomerDeclined", "Reason: Wants more time");
  await tabTo("Events");
  await enter();
  await type("Offer’s id", offers[3]);
  await tabTo("Show");
  await enter();
  await see(page, "offer.declined");
  await tabTo("Sign out");
  await enter();
  await see(page, "Your key");
  await page.context().close();
}

async function signedIn(browser) {
  const page = await plainPage(browser);
  await page.getByLabel("Your key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await see(page, "Look for one of these");
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

/** Every kind of page: its address, and what is done there before it is looked at. */
function pages({ partner, application, offers, operationId, buyer }) {
  const offer = (n) => `/applications/${application}/offers/${offers[n]}`;
  const press = (name) => (page) => page.getByRole("button", { name }).click();
  return {
    "sign-in": { path: "/sign-in" },
    search: { path: "" },
    found: { path: "/search?q=bicycles" },
    partners: { path: "/partners" },
    partner: { path: `/partners/${partner}` },
    application: { path: `/applications/${application}` },
    offer: { path: offer(4) },
    "offer-archived": { path: offer(0) },
    "offer-advanced": { path: offer(1) },
    decline: { path: `${offer(4)}/decline` },
    "decline-sure": {
      path: `${offer(4)}/decline`,
      then: async (page) => {
        await page.getByLabel("Why did the customer turn it down?").fill("Found a cheaper loan");
        await press("Decline …")(page);
        await see(page, "Really decline it?");
      },
    },
    buyers: { path: "/buyers" },
    buyer: { path: `/buyers/${buyer}` },
    "buyer-in-full": { path: `/buyers/${buyer}`, then: press("Show the details in full") },
    operation: { path: `/operations/${operationId}` },
    events: { path: "/events" },
    refused: { path: "/events?offerId=x", status: 400 },
  };
}

async function look(browser, name, { path, then, status = 200 }, session) {
  const context = await browser.newContext({ storageState: name === "sign-in" ? undefined : session, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  // Chromium itself says so of a page that is refused.
  const complaints = watch(page, base, status >= 400 ? `status of ${status}` : undefined);
  const answer = await page.goto(HOME + path);
  assert.equal(answer.status(), status, path);
  await then?.(page);
  await page.waitForLoadState();
  complaints.push(...(await judge(page, `${shots}/${name}`)));
  await context.close();
  assert(complaints.length === 0, `${name}: ${complaints.join("\n")}`);
}

mkdirSync(shots, { recursive: true });
main().then(
  (told) => console.log(`console: ${told}; screenshots are in ${shots}`),
  (error) => {
    console.error(`console: ${error.message}`);
    process.exitCode = 1;
  },
);
