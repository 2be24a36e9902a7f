import { connect } from 'node:net';

/**
 * A connection on which each side writes JSON objects: QEMU's monitor (QMP) and the guest agent both speak so.
 */
export class JsonLinesSocket {
  #rest = '';
  /** @type {any[]} */
  #messages = [];
  /** @type {Set<() => void>} */
  #waiting = new Set();
  /** @type {import('node:net').Socket} */
  #socket;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#rest += bytes.toString('utf8');
      const lines = this.#rest.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        // The agent marks the start of an answer with a byte that is no JSON.
        const text = line.replaceAll('\u00ff', '').replaceAll('\ufffd', '').trim();
        if (text !== '') this.#messages.push(JSON.parse(text));
      }
      for (const resume of this.#waiting) resume();
    });
    socket.on('error', () => {});
  }

  /**
   * @param {string} path
   * @returns {Promise<JsonLinesSocket>}
   */
  static open(path) {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('connect', () => resolve(new JsonLinesSocket(socket)));
      socket.once('error', reject);
    });
  }

  /**
   * Sends a command and waits for its answer; events that come in between are kept.
   * @param {string} execute
   * @param {object} [options]
   * @param {Record<string, unknown>} [options.arguments]
   * @param {number} [options.timeoutMs]
   * @returns {Promise<any>} what the answer returns
   */
  async call(execute, { arguments: args, timeoutMs = 30_000 } = {}) {
    this.#socket.write(`${JSON.stringify({ execute, ...(args && { arguments: args }) })}\n`);
    const answer = await this.take(
      `the answer to ${execute}`,
      (message) => 'return' in message || 'error' in message,
      timeoutMs,
    );
    if (answer.error) throw new Error(`${execute}: ${answer.error.desc}`);
    return answer.return;
  }

  /**
   * Takes the first message that fits, waiting for it when it has not come yet.
   * @param {string} what
   * @param {(message: any) => boolean} fits
   * @param {number} timeoutMs
   */
  async take(what, fits, timeoutMs) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const index = this.#messages.findIndex(fits);
      if (index >= 0) return this.#messages.splice(index, 1)[0];
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`Waited ${timeoutMs} ms for ${what}.`);
      await this.#change(left);
    }
  }

  close() {
    this.#socket.destroy();
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
