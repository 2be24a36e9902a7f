import { once } from 'node:events';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { TAG } from './cluster.mjs';
import { monotonic } from './monotonic.mjs';

const PATH = '/apis/kubevirt.io/v1/virtualmachines';
const SERIAL = new RegExp(`/tag\\.${TAG}(\\d+)"|"${TAG}(\\d+)"`);

/** A watch of all VMs, which notes when it has read each change. */
export class VmWatch {
  #response;
  #waiting = [];
  /** Serial of a change → when it was read, in milliseconds of the monotonic clock. */
  seen = new Map();

  static async open(kubeconfig) {
    const watch = new VmWatch();
    const server = /server: (\S+)/.exec(kubeconfig)[1];
    const headers = { Authorization: `Bearer ${/token: (\S+)/.exec(kubeconfig)[1]}` };
    const list = await fetch(`${server}${PATH}?limit=1`, { headers });
    const { metadata } = await list.json();
    const request = get(`${server}${PATH}?watch=true&resourceVersion=${metadata.resourceVersion}`, { headers });
    [watch.#response] = await once(request, 'response');
    createInterface({ input: watch.#response }).on('line', (line) => watch.#read(line));
    return watch;
  }

  waitFor(serial) {
    return this.seen.has(serial)
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push({ serial, resolve }));
  }

  close() {
    this.#response.destroy();
  }

  #read(line) {
    const now = monotonic();
    const [, first, second] = SERIAL.exec(line) ?? [];
    const serial = Number(first ?? second);
    if (Number.isNaN(serial) || this.seen.has(serial)) return;
    this.seen.set(serial, now);
    for (const waiting of this.#waiting) if (this.seen.has(waiting.serial)) waiting.resolve();
  }
}
