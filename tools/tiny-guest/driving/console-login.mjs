/** @typedef {import('./expect-stream.mjs').ExpectStream} ExpectStream */

const MAX_ATTEMPTS = 6;

/**
 * Logs in on a console that shows `login: `, up to the shell prompt. login flushes the terminal's input after printing
 * the password prompt, so a password that is typed too early gets lost and is typed again.
 * @param {ExpectStream} console
 * @param {string} user
 * @param {string} password
 * @returns {Promise<boolean>} false if the login is rejected
 */
export async function logIn(console, user, password) {
  console.send(`${user}\r`);
  await console.expect(/Password: /);
  let rejections = 0;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    console.send(`${password}\r`);
    const answer = await console.expect(/[$#] (\x1b\[6n)?|Login incorrect/, 5_000).catch(() => undefined);
    if (answer === undefined) continue;
    if (!answer[0].startsWith('Login')) return true;
    // Part of the first password may have been lost, so only the second rejection counts.
    if (++rejections > 1) return false;
    await console.expect(/login: /);
    console.send(`${user}\r`);
    await console.expect(/Password: /);
  }
  throw new Error(
    `The console did not respond to ${MAX_ATTEMPTS} passwords. Its last output: ${console.transcript.slice(-600)}`,
  );
}
