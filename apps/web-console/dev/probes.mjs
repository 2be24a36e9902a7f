/** Measurements of one page of Chromium that several scripts take. */

/**
 * Limits the speed of the network.
 * @param {number} megabits per second
 * @param {number} latency in milliseconds
 */
export async function limitNetwork(page, megabits, latency) {
  const session = await page.context().newCDPSession(page);
  const bytes = (megabits * 1e6) / 8;
  const limits = { offline: false, latency, downloadThroughput: bytes, uploadThroughput: bytes };
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', limits);
}

/** The time from an event in the field of the palette until its results are in the page, in milliseconds. */
export const typeInPalette = (page, text) =>
  page.locator('.hg-palette-input').evaluate((element, typed) => {
    const began = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, typed);
    // React renders an input event before it returns; reading the layout includes the styles.
    element.dispatchEvent(new Event('input', { bubbles: true }));
    document.querySelector('.hg-palette-foot').getBoundingClientRect();
    return performance.now() - began;
  }, text);
