// Walks through the pages of a side in Debian's Chromium, on a desktop and on a phone, light and dark, and fails at what is
// not as it should be: a rule of axe-core, a page that is wider than the screen, an error, a request to another host, a
// score of Lighthouse below 95. Takes a screenshot of each. With an argument, the start page is broken in that way.

"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { mkdirSync } = require("node:fs");
const { createServer } = require("node:net");
const axe = require("axe-core");
const lighthouse = require("lighthouse/core/index.cjs");
const { chromium } = require("playwright-core");

const { LENDPAY_BASE: base, LENDPAY_START: start, LENDPAY_SHOTS: shots } = process.env;

// As root there is no sandbox; the rest keeps Chromium from calling its maker.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const SCREENS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** The least score of each category; what has none is reported only. */
const LEAST = { accessibility: 0.95, "best-practices": 0.95, performance: 0 };

/** A screenshot is not higher: Chromium takes no more of a page. */
const HIGHEST = 16_000;

// Ways to break the page; each must be noticed.
const BREAKAGES = {
  contrast: (html) => html.replaceAll(/--text: #[0-9a-f]+/g, "--text: #999999"),
  language: (html) => html.replace(' lang="en"', ""),
  outside: (html) => html.replace("</title>", '$&<link rel="preload" as="image" href="http://other.example/pixel.png">'),
  width: (html) => html.replace("<main", '<div style="width: 200vw">wide</div>$&'),
};

async function main() {
  const breakage = process.argv[2];
  const port = await freePort();
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: [...FLAGS, `--remote-debugging-port=${port}`] });
  try {
    const pages = breakage === undefined ? await contents(browser) : [start];
    for (const path of pages) {
      await look(browser, path, breakage);
    }
    if (breakage === undefined) {
      for (const path of pages) {
        await score(path, port);
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

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
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

/** Looks at a page on every screen. */
async function look(browser, path, breakage) {
  const page = await browser.newPage({ reducedMotion: "reduce" });
  const complaints = watch(page);
  if (breakage !== undefined) {
    await breakPage(page, breakage);
  }
  await page.goto(base + path);
  // The policy of the page stops scripts that are not its own, but not the one that drives the browser.
  await page.evaluate(axe.source);
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const found = await judge(page);
      complaints.push(...found.map((complaint) => `${screen}, ${colorScheme}: ${complaint}`));
      if (breakage === undefined) {
        const name = path.replaceAll("/", "-").replace(/^-|-$/g, "") || "start";
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(height, HIGHEST) };
        await page.screenshot({ path: `${shots}/${name}-${screen}-${colorScheme}.png`, fullPage: true, clip });
      }
    }
  }
  await page.close();
  assert(complaints.length === 0, `${path}: ${complaints.join("\n")}`);
}

async function judge(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const { violations } = await page.evaluate(() => window.axe.run());
  const broken = violations.map(({ id, help, nodes }) => {
    return `axe-core ${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`;
  });
  return wide > 0 ? [`it is ${wide} px wider than the screen`, ...broken] : broken;
}

/** Notes what the page asks of other hosts, and what goes wrong in it. */
function watch(page) {
  const complaints = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== base) {
      complaints.push(`a request to another host: ${url.href}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`an error in the page: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") {
      complaints.push(`an error in the console: ${message.text()}`);
    }
  });
  return complaints;
}

async function breakPage(page, name) {
  const breakage = BREAKAGES[name];
  assert(breakage !== undefined, "no such breakage");
  await page.route(base + start, async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const broken = breakage(html);
    // A breakage that breaks nothing would prove nothing.
    if (broken === html) {
      console.error("the page has nothing of the kind to break");
      process.exit(2);
    }
    const headers = response.headers();
    delete headers["content-security-policy"];
    await route.fulfill({ response, headers, body: broken });
  });
}

async function score(path, port) {
  // Speed takes a trace, which takes long; the other pages have less than the reference.
  const categories = Object.keys(LEAST).filter((name) => name !== "performance" || path === start || path.endsWith("/reference"));
  const settings = { port, onlyCategories: categories, throttlingMethod: "provided", logLevel: "error", disableFullPageScreenshot: true };
  const { lhr } = await lighthouse(base + path, settings);
  const scores = Object.entries(lhr.categories).map(([name, { score }]) => [name, score]);
  const failed = Object.values(lhr.audits).filter(({ score, scoreDisplayMode: mode }) => mode === "binary" && score === 0);
  console.log(`  ${path}: ${scores.map(([name, score]) => `${name} ${Math.round(score * 100)}`).join(", ")}`);
  for (const [name, score] of scores) {
    assert(score >= LEAST[name], `${path}: ${name} is ${score}: ${failed.map(({ id }) => id).join(", ")}`);
  }
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
