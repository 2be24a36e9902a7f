/**
 * Reads a stream the way a person watches a console: waits until something appears.
 */
export class ExpectStream {
  #text = '';
  #seen = 0;
  #ended = false;
  /** @type {Set<() => void>} */
  #waiting = new Set();
  /** @type {import('node:stream').Duplex} */
  #stream;
  #name;

  /**
   * @param {import('node:stream').Duplex} stream
   * @param {string} name what it is, for messages
   */
  constructor(stream, name) {
    this.#stream = stream;
    this.#name = name;
    stream.on('data', (/** @type {Buffer} */ bytes) => {
      this.#text += bytes.toString('latin1');
      this.#wake();
    });
    stream.once('close', () => {
      this.#ended = true;
      this.#wake();
    });
    stream.on('error', () => {});
  }

  /** Everything read so far. */
  get transcript() {
    return this.#text;
  }

  /** @param {string} text */
  send(text) {
    this.#stream.write(text);
  }

  /** Ends the stream. */
  close() {
    this.#stream.destroy();
  }

  /**
   * Waits until a pattern appears behind what was matched before.
   * @param {RegExp} pattern
   * @param {number} [timeoutMs]
   * @returns {Promise<RegExpMatchArray>}
   * @throws {Error} that says what was waited for, where, and what stood there instead
   */
  async expect(pattern, timeoutMs = 60_000) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const match = this.#text.slice(this.#seen).match(pattern);
      if (match) {
        this.#seen += (match.index ?? 0) + match[0].length;
        return match;
      }
      const left = deadline - Date.now();
      if (this.#ended || left <= 0) {
        const why = this.#ended ? 'it ended' : `${timeoutMs} ms passed`;
        const tail = JSON.stringify(this.#text.slice(this.#seen).slice(-600));
        throw new Error(`Waited for ${pattern} on ${this.#name}, but ${why}. It last said: ${tail}`);
      }
      await this.#change(left);
    }
  }

  /**
   * Types a command at a shell's prompt and reads what it prints.
   * @param {string} command
   * @param {number} [timeoutMs]
   * @returns {Promise<{ output: string, code: number }>}
   */
  async shell(command, timeoutMs) {
    // The echo of the command, which the shell wraps as it likes, must not be taken for its output: there the marks
    // stand in two parts.
    this.send(`echo "[be""gin]"; ${command}; echo "[do""ne:$?]"\r`);
    await this.expect(/\[begin\]\r?\n/, timeoutMs);
    const match = await this.expect(/([\s\S]*?)\[done:(\d+)\]/, timeoutMs);
    return { output: (match[1] ?? '').replaceAll('\r', '').trim(), code: Number(match[2]) };
  }

  #wake() {
    for (const resume of this.#waiting) resume();
  }

  /** @param {number} timeoutMs @returns {Promise<void>} */
  #change(timeoutMs) {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.#waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, timeoutMs);
      this.#waiting.add(resume);
    });
  }
}
