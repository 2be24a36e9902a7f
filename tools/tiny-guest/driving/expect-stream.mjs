/**
 * Reads a console stream and waits for patterns in it.
 */
export class ExpectStream {
  /** @private */
  text = '';
  /** @private */
  seen = 0;
  /** @private */
  ended = false;
  /** @private @type {Set<() => void>} */
  waiting = new Set();
  /** @private @type {import('node:stream').Duplex} */
  stream;
  /** @private */
  name;

  /**
   * @param {import('node:stream').Duplex} stream
   * @param {string} name its name in error messages
   */
  constructor(stream, name) {
    this.stream = stream;
    this.name = name;
    stream.on('data', (/** @type {Buffer} */ bytes) => {
      this.text += bytes.toString('latin1');
      this.wake();
    });
    stream.once('close', () => {
      this.ended = true;
      this.wake();
    });
    stream.on('error', () => {});
  }

  /** Everything read so far. */
  get transcript() {
    return this.text;
  }

  /** @param {string} text */
  send(text) {
    this.stream.write(text);
  }

  /** Ends the stream. */
  close() {
    this.stream.destroy();
  }

  /**
   * Waits until a pattern appears after the previous match.
   * @param {RegExp} pattern
   * @param {number} [timeoutMs]
   * @returns {Promise<RegExpMatchArray>}
   * @throws {Error} with the pattern, the stream's name and its last output
   */
  async expect(pattern, timeoutMs = 60_000) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const match = this.text.slice(this.seen).match(pattern);
      if (match) {
        this.seen += (match.index ?? 0) + match[0].length;
        return match;
      }
      const remainingMs = deadline - Date.now();
      if (this.ended || remainingMs <= 0) {
        const why = this.ended ? 'it ended' : `${timeoutMs} ms passed`;
        const tail = JSON.stringify(this.text.slice(this.seen).slice(-600));
        throw new Error(`Waited for ${pattern} on ${this.name}, but ${why}. Its last output: ${tail}`);
      }
      await this.change(remainingMs);
    }
  }

  /**
   * Types a command at a shell's prompt and reads what it prints.
   * @param {string} command
   * @param {number} [timeoutMs]
   * @returns {Promise<{ output: string, code: number }>}
   */
  async shell(command, timeoutMs) {
    // The shell echoes the command, with arbitrary wrapping. The markers are split in the command so that the echo
    // does not match.
    this.send(`echo "[be""gin]"; ${command}; echo "[do""ne:$?]"\r`);
    await this.expect(/\[begin\]\r?\n/, timeoutMs);
    const match = await this.expect(/([\s\S]*?)\[done:(\d+)\]/, timeoutMs);
    return { output: (match[1] ?? '').replaceAll('\r', '').trim(), code: Number(match[2]) };
  }

  /** @private */
  wake() {
    for (const resume of this.waiting) resume();
  }

  /** @private @param {number} timeoutMs @returns {Promise<void>} */
  change(timeoutMs) {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, timeoutMs);
      this.waiting.add(resume);
    });
  }
}
