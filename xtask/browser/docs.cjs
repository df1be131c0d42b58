// Walks through /docs as a partner does, in Debian's Chromium, and fails at the first thing that is not as it should be:
// a call without a key (401), every operation there, Authorize, two tried out (201, 200), a key that is forgotten when the page is
// loaded again, nothing asked of another host, no error in the console. With an argument, the page is broken in that way before the browser gets it.

"use strict";

const assert = require("node:assert/strict");
const { breakPage, launch, watch } = require("./chromium.cjs");

const { LENDPAY_BASE: base, LENDPAY_KEY: key, LENDPAY_APPLICATION: application, LENDPAY_OFFER: offer } = process.env;

const { paths } = require("../../openapi/partner.json");
const OPERATIONS = Object.values(paths).flatMap((item) => Object.values(item).filter((method) => method.operationId)).length;

// Ways to break the page; each must be noticed.
const BREAKAGES = {
  bundle: (html) => html.replace(/<script charset="UTF-8">/, "$&throw new Error('cut');"),
  options: (html) => html.replace("displayRequestDuration: true", "displayRequestDuration: false"),
  persistence: (html) => html.replace("deepLinking: true", "$&, persistAuthorization: true"),
  links: (html) => html.replace("deepLinking: true", "deepLinking: false"),
  outside: (html) => html.replace("</title>", '$&<link rel="preload" as="image" href="http://other.example/pixel.png">'),
  console: (html) => html.replace("</title>", '$&<script>console.error("broken on purpose")</script>'),
  policy: (html) => html.replace("</title>", "$&<script>document.title = 'a script from outside'</script>"),
  body: (html) => html.replace('"schema":{"example":{}}', '"schema":{"type":"string"}'),
};

async function main() {
  const breakage = process.argv[2];
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(breakage === undefined ? 30_000 : 10_000);
    // Chromium itself says so of the call without a key.
    const complaints = watch(page, base, "the server responded with a status of 401");
    if (breakage !== undefined) {
      await breakPage(page, "**/docs", BREAKAGES[breakage], breakage === "policy");
    }
    await walk(page).catch((error) => complaints.push(error.message));
    assert(complaints.length === 0, complaints.join("\n"));
  } finally {
    await browser.close();
  }
}

async function walk(page) {
  await page.goto(`${base}/docs`);
  await page.locator(".opblock").first().waitFor();
  assert.equal(await page.locator(".opblock").count(), OPERATIONS);

  const create = await open(page, "Payments", "CreateBuyer");
  assert.equal(await execute(create), "401");
  await authorize(page);
  assert.equal(await execute(create), "201");
  await see(create, "createdAt");
  await see(create, "Request duration");

  const accept = await open(page, "Lending", "AcceptOffer");
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.equal(kept, "[{},{}]", "the page keeps something");
  await accept.locator('tr[data-param-name="applicationId"] input').fill(application);
  await accept.locator('tr[data-param-name="offerId"] input').fill(offer);
  assert.equal(await execute(accept), "401", "the page still knows the key");
  await authorize(page);
  assert.equal((await accept.locator("textarea.body-param__text").inputValue()).trim(), "{}");
  assert.equal(await execute(accept), "200");
  await see(accept, "CustomerAccepted");
}

/** Opens an operation by its deep link, in a page that is loaded again, ready to be tried out. */
async function open(page, tag, operation) {
  await page.goto("about:blank");
  await page.goto(`${base}/docs#/${tag}/${operation}`);
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.getByRole("button", { name: "Try it out" }).click();
  return block;
}

async function authorize(page) {
  await page.locator(".auth-wrapper > button.authorize").click();
  const container = page.locator(".auth-container", { hasText: "X-Service-ApiKey" });
  await container.locator("input").fill(key);
  await container.locator("button.authorize").click();
  await container.locator("button.btn-done").click();
}

/** Presses Execute, and returns the status that the page shows. */
async function execute(block) {
  const clear = block.getByRole("button", { name: "Clear" });
  if (await clear.isVisible()) {
    await clear.click();
  }
  await block.getByRole("button", { name: "Execute" }).click();
  const status = block.locator(".live-responses-table .response .response-col_status").first();
  return (await status.innerText()).trim().split(/\s/)[0];
}

async function see(block, text) {
  await block.locator(".live-responses-table", { hasText: text }).waitFor();
}

main().then(
  () => console.log("docs: 401, 201 and 200 seen on the page"),
  (error) => {
    console.error(`docs: ${error.message}`);
    process.exitCode = 1;
  },
);
