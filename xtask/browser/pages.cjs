// Walks through the pages of a side in Debian's Chromium, on a desktop and on a phone, light and dark, and fails at what is
// not as it should be: a rule of axe-core, a page that is wider than the screen, an error, a request to another host, a
// score of Lighthouse below 95. Takes a screenshot of each. With an argument, the start page is broken in that way.

"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { mkdirSync } = require("node:fs");
const { breakPage, watch } = require("./chromium.cjs");
const { judge, launchForLighthouse, score } = require("./judges.cjs");

const { LENDPAY_BASE: base, LENDPAY_START: start, LENDPAY_SHOTS: shots } = process.env;

// Ways to break the page; each must be noticed.
const BREAKAGES = {
  contrast: (html) => html.replaceAll(/--text: #[0-9a-f]+/g, "--text: #999999"),
  language: (html) => html.replace(' lang="en"', ""),
  outside: (html) => html.replace("</title>", '$&<link rel="preload" as="image" href="http://other.example/pixel.png">'),
  width: (html) => html.replace("<main", '<div style="width: 200vw">wide</div>$&'),
};

async function main() {
  const breakage = process.argv[2];
  const { browser, port } = await launchForLighthouse();
  try {
    const pages = breakage === undefined ? await contents(browser) : [start];
    for (const path of pages) {
      await look(browser, path, breakage);
    }
    if (breakage === undefined) {
      for (const path of pages) {
        // The other pages have less in them than the reference.
        await score(path, base + path, port, { speed: path === start || path.endsWith("/reference") });
      }
      if (start === "/") {
        await firstCall(browser);
      }
    }
    return pages.length;
  } finally {
    await browser.close();
  }
}

/** The addresses of all pages but Swagger UI's: what the start page lists. */
async function contents(browser) {
  const page = await browser.newPage();
  await page.goto(base + start);
  const paths = await page.locator("nav a").evaluateAll((links) => links.map((link) => new URL(link.href).pathname));
  await page.close();
  assert(paths.includes(start) && paths.length > 5, `the start page lists ${paths}`);
  return paths.filter((path) => !path.endsWith("/docs"));
}

async function look(browser, path, breakage) {
  const page = await browser.newPage({ reducedMotion: "reduce" });
  const complaints = watch(page, base);
  if (breakage !== undefined) {
    await breakPage(page, base + start, BREAKAGES[breakage]);
  }
  await page.goto(base + path);
  const name = path.replaceAll("/", "-").replace(/^-|-$/g, "") || "start";
  complaints.push(...(await judge(page, breakage === undefined ? `${shots}/${name}` : undefined)));
  await page.close();
  assert(complaints.length === 0, `${path}: ${complaints.join("\n")}`);
}

/** From nothing but the start page to an accepted offer: the commands are copied from it, and run as they are. */
async function firstCall(browser) {
  const began = Date.now();
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(base + start);
  const copied = async () => {
    await page.locator(".samples figure:not([hidden]) .copy").first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const accepted = (program, text) => {
    const answer = execFileSync(program, [], { input: text, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
    assert.equal(JSON.parse(answer).status, "CustomerAccepted", answer);
  };
  accepted("bash", await copied());
  console.log(`  from the start page to an accepted offer: ${Date.now() - began} ms`);
  // The next language, by keyboard.
  await page.getByRole("tab", { name: "curl" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Python");
  accepted("python3", await copied());
  await context.close();
}

mkdirSync(shots, { recursive: true });
main().then(
  (count) => console.log(`pages: ${count} seen below ${start}; screenshots are in ${shots}`),
  (error) => {
    console.error(`pages: ${error.message}`);
    process.exitCode = 1;
  },
);
