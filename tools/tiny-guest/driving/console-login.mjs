/** @typedef {import('./expect-stream.mjs').ExpectStream} ExpectStream */

const ATTEMPTS = 6;

/**
 * Logs in on a console that shows `login: `, and leaves it at the shell's prompt. What is typed right behind the prompt
 * for the password may get lost: login empties the terminal's input after it has printed the prompt. Then it is typed again.
 * @param {ExpectStream} console
 * @param {string} user
 * @param {string} password
 * @returns {Promise<boolean>} false when the console refuses that user and password
 */
export async function logIn(console, user, password) {
  console.send(`${user}\r`);
  await console.expect(/Password: /);
  let refusals = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    console.send(`${password}\r`);
    const answer = await console.expect(/[$#] (\x1b\[6n)?|Login incorrect/, 5_000).catch(() => undefined);
    if (answer === undefined) continue;
    if (!answer[0].startsWith('Login')) return true;
    // A part of it may have been lost: only the second refusal counts.
    if (++refusals > 1) return false;
    await console.expect(/login: /);
    console.send(`${user}\r`);
    await console.expect(/Password: /);
  }
  throw new Error(`The console did not answer to ${ATTEMPTS} passwords. It said: ${console.transcript.slice(-600)}`);
}
