// What judges a page: axe-core on a desktop and on a phone, light and dark, and Lighthouse.

"use strict";

const assert = require("node:assert/strict");
const { createServer } = require("node:net");
const axe = require("axe-core");
const lighthouse = require("lighthouse/core/index.cjs");
const { launch } = require("./chromium.cjs");

const SCREENS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** The least score of each category; what has none is reported only. */
const LEAST = { accessibility: 0.95, "best-practices": 0.95, performance: 0 };

/** A screenshot is not higher: Chromium takes no more of a page. */
const HIGHEST = 16_000;

/** The pages wait for nothing once they are loaded; only speed needs a pause that shows it. */
const NO_PAUSE = { pauseAfterFcpMs: 0, pauseAfterLoadMs: 0, networkQuietThresholdMs: 0, cpuQuietThresholdMs: 0 };

/** A browser, and the port at which Lighthouse drives it. */
async function launchForLighthouse() {
  const port = await freePort();
  return { browser: await launch([`--remote-debugging-port=${port}`]), port };
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

/** What axe-core finds in a page, on every screen; with `shots`, a screenshot of each is there, its name followed by the screen's. */
async function judge(page, shots) {
  // The policy of the page stops scripts that are not its own, but not the one that drives the browser.
  await page.evaluate(axe.source);
  const complaints = [];
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      complaints.push(...(await judgeScreen(page)).map((complaint) => `${screen}, ${colorScheme}: ${complaint}`));
      if (shots !== undefined) {
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(height, HIGHEST) };
        // A long page takes more than the usual half a minute beside other work.
        await page.screenshot({ path: `${shots}-${screen}-${colorScheme}.png`, fullPage: true, clip, timeout: 120_000 });
      }
    }
  }
  return complaints;
}

async function judgeScreen(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const { violations } = await page.evaluate(() => window.axe.run());
  const broken = violations.map(({ id, help, nodes }) => {
    return `axe-core ${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`;
  });
  return wide > 0 ? [`it is ${wide} px wider than the screen`, ...broken] : broken;
}

/** Has Lighthouse judge an address, its speed only on request, since that takes long. */
async function score(name, address, port, { speed = false, ...settings } = {}) {
  const onlyCategories = Object.keys(LEAST).filter((category) => speed || category !== "performance");
  const pause = speed ? {} : NO_PAUSE;
  const { lhr } = await lighthouse(address, { port, onlyCategories, logLevel: "error", disableFullPageScreenshot: true, ...pause, ...settings });
  const scores = Object.entries(lhr.categories).map(([category, { score }]) => [category, score]);
  const failed = Object.values(lhr.audits).filter(({ score, scoreDisplayMode: mode }) => mode === "binary" && score === 0);
  console.log(`  ${name}: ${scores.map(([category, score]) => `${category} ${Math.round(score * 100)}`).join(", ")}`);
  for (const [category, score] of scores) {
    assert(score >= LEAST[category], `${name}: ${category} is ${score}: ${failed.map(({ id }) => id).join(", ")}`);
  }
}

module.exports = { judge, launchForLighthouse, score };
