import { connect } from 'node:net';

/**
 * A connection with JSON objects in both directions, as used by QEMU's monitor (QMP) and the guest agent.
 */
export class JsonLinesSocket {
  /** @private */
  rest = '';
  /** @private @type {any[]} */
  messages = [];
  /** @private @type {Set<() => void>} */
  waiting = new Set();
  /** @private @type {import('node:net').Socket} */
  socket;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.rest += bytes.toString('utf8');
      const lines = this.rest.split('\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) {
        // The agent may send a non-JSON marker byte before a response.
        const text = line.replaceAll('\u00ff', '').replaceAll('\ufffd', '').trim();
        if (text !== '') this.messages.push(JSON.parse(text));
      }
      for (const resume of this.waiting) resume();
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
   * Sends a command and waits for the response. Events that arrive meanwhile stay in the queue.
   * @param {string} execute
   * @param {object} [options]
   * @param {Record<string, unknown>} [options.arguments]
   * @param {number} [options.timeoutMs]
   * @returns {Promise<any>} the return value
   */
  async call(execute, { arguments: args, timeoutMs = 30_000 } = {}) {
    this.socket.write(`${JSON.stringify({ execute, ...(args && { arguments: args }) })}\n`);
    const response = await this.take(
      `the response to ${execute}`,
      (message) => 'return' in message || 'error' in message,
      timeoutMs,
    );
    if (response.error) throw new Error(`${execute}: ${response.error.desc}`);
    return response.return;
  }

  /**
   * Removes and returns the first matching message, waiting for it if necessary.
   * @param {string} description
   * @param {(message: any) => boolean} matches
   * @param {number} timeoutMs
   */
  async take(description, matches, timeoutMs) {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const index = this.messages.findIndex(matches);
      if (index >= 0) return this.messages.splice(index, 1)[0];
      const remainingMs = deadline - Date.now();
      if (remainingMs <= 0) throw new Error(`Waited ${timeoutMs} ms for ${description}.`);
      await this.change(remainingMs);
    }
  }

  close() {
    this.socket.destroy();
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
