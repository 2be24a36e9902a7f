import { once } from 'node:events';
import { connect } from 'node:net';

/** An HTTP client that only counts bytes, so that it costs very little compared with the measured server. */
export class RawClient {
  #socket;
  #waiting;
  #left = 0;
  #head = Buffer.alloc(0);

  static async open(port) {
    const client = new RawClient();
    client.#socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await once(client.#socket, 'connect');
    client.#socket.on('data', (data) => client.#take(data));
    client.#socket.on('error', (error) => client.#waiting?.reject(error));
    return client;
  }

  /** @returns {Promise<{status: number, etag: string}>} when the response is complete */
  get(path, headers = '') {
    const answer = new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    return answer;
  }

  close() {
    this.#socket.destroy();
  }

  #take(data) {
    if (this.#left > 0) {
      this.#left -= data.length;
      if (this.#left <= 0) this.#done();
      return;
    }
    this.#head = this.#head.length === 0 ? data : Buffer.concat([this.#head, data]);
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#head.subarray(0, end).toString('latin1');
    this.answer = { status: Number(head.slice(9, 12)), etag: /\r\netag: (\S+)/i.exec(head)?.[1] ?? '' };
    this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0) - (this.#head.length - end - 4);
    this.#head = Buffer.alloc(0);
    if (this.#left <= 0) this.#done();
  }

  #done() {
    this.#left = 0;
    this.#waiting.resolve(this.answer);
  }
}
