import { get } from 'node:http';
import { TAG } from './cluster.mjs';
import { monotonic } from './monotonic.mjs';

const TURN = new RegExp(`"${TAG}(\\d+)"`);

/** Reads the service's event stream and records when each change of the cluster became visible on it. */
export class EventReader {
  /** Serial number of a change → time at which its event was read, in milliseconds of the monotonic clock. */
  seen = new Map();
  #request;
  #rest = '';
  #waiting;

  /** Resolves when the snapshot has been read. */
  static async open(url) {
    const reader = new EventReader();
    await new Promise((resolve, reject) => {
      reader.#request = get(
        `${url}/api/vms`,
        { headers: { accept: 'text/event-stream' }, agent: false },
        (response) => {
          response.setEncoding('latin1').on('data', (data) => reader.#take(data, resolve));
        },
      ).on('error', reject);
    });
    return reader;
  }

  /** Resolves when the change has been seen. @throws Error after a timeout */
  async waitFor(serial, timeoutMs = 15_000) {
    if (this.seen.has(serial)) return;
    await new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`change ${serial} did not appear on the event stream`)),
        timeoutMs,
      );
      this.#waiting = { serial, resolve: () => resolve(clearTimeout(timer)) };
    });
  }

  close() {
    this.#request.on('error', () => undefined).destroy();
  }

  #take(data, snapshotRead) {
    const events = (this.#rest + data).split('\n\n');
    this.#rest = events.pop();
    for (const event of events) {
      if (event.startsWith('event: snapshot')) snapshotRead();
      const serial = event.startsWith('event: changed') ? Number(TURN.exec(event)?.[1]) : NaN;
      if (Number.isNaN(serial)) continue;
      if (!this.seen.has(serial)) this.seen.set(serial, monotonic());
      if (this.#waiting?.serial === serial) this.#waiting.resolve();
    }
  }
}
