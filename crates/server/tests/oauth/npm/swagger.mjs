// Uses the service's documentation page as a person would: authorizes by client credentials and tries both operations out.
//
// Arguments: the page, client id, client secret, application, offer. Prints each operation with the status of its answer.
import { chromium } from 'playwright-core';

const [page_, clientId, secret, application, offer] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on('requestfailed', (request) => console.error('failed:', request.url(), request.failure()?.errorText));
  await page.goto(page_);

  await page.locator('.auth-wrapper .authorize').click();
  const dialog = page.locator('.auth-container').filter({ hasText: 'clientCredentials' });
  await dialog.locator('#client_id_clientCredentials').fill(clientId);
  await dialog.locator('#client_secret_clientCredentials').fill(secret);
  await dialog.getByText('select all', { exact: true }).click();
  await dialog.locator('.auth-btn-wrapper button.authorize').click();
  await dialog.getByText('Logout').waitFor();
  await page.locator('.auth-btn-wrapper .btn-done').last().click();

  for (const [operation, parameters] of [
    ['operations-Lending-AcceptOffer', { applicationId: application, offerId: offer }],
    ['operations-Payments-CreateBuyer', {}],
  ]) {
    const block = page.locator(`#${operation}`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('.try-out__btn').click();
    for (const [name, value] of Object.entries(parameters)) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    }
    await block.locator('.execute').click();
    const status = block.locator('.live-responses-table .response .response-col_status');
    console.log(operation.split('-')[2], (await status.first().innerText()).trim().split(/\s/)[0]);
  }
} finally {
  await browser.close();
}
