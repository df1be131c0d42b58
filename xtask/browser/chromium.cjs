// What the walks in the browser share: Debian's Chromium, and what goes wrong in one of its pages.

"use strict";

const assert = require("node:assert/strict");
const { chromium } = require("playwright-core");

// As root there is no sandbox; the rest keeps Chromium from calling its maker.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

function launch(flags = []) {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: [...FLAGS, ...flags] });
}

/** Notes what the page asks of other hosts than `base`, and what goes wrong in it; an error in the console that has the words of `expected` is none. */
function watch(page, base, expected) {
  const complaints = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["data:", "blob:"].includes(url.protocol) && url.origin !== base) {
      complaints.push(`a request to another host: ${url.href}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`an error in the page: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !(expected && message.text().includes(expected))) {
      complaints.push(`an error in the console: ${message.text()}`);
    }
  });
  return complaints;
}

/** Gives the browser the page at `address` with its HTML changed by `change`, without its Content-Security-Policy unless `policy`. */
async function breakPage(page, address, change, policy = false) {
  assert(change !== undefined, "no such breakage");
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const broken = change(html);
    // A breakage that breaks nothing would prove nothing.
    if (broken === html) {
      console.error("the page has nothing of the kind to break");
      process.exit(2);
    }
    const headers = response.headers();
    // The policy stops what is not the page's own; a walk has to notice what is wrong without it, too.
    if (!policy) {
      delete headers["content-security-policy"];
    }
    await route.fulfill({ response, headers, body: broken });
  });
}

module.exports = { breakPage, launch, watch };
