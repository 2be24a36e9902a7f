import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { VM_SERVICE_FLAGS } from '../../start/run-service.mjs';
import { monotonic } from './monotonic.mjs';

const MAIN = join(import.meta.dirname, '../../../apps/vm-service/dist/main.js');
/** Of the kernel, per second: what /proc counts processor time in. */
const TICKS = 100;

/** The built service over one cluster, in a process of its own, run as `npm start` does. */
export class Service {
  #child;
  #startedAt;
  #agent = new Agent({ keepAlive: true });
  url = '';

  /**
   * Resolves when it listens, which is before it has listed anything.
   * @param {string} kubeconfig
   * @param {string} folder where its files go
   */
  static async start(kubeconfig, folder) {
    writeFileSync(join(folder, 'kubeconfig'), kubeconfig, { mode: 0o600 });
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      `contexts: [{ name: bench, kind: kubevirt, kubeconfig: ${JSON.stringify(join(folder, 'kubeconfig'))} }]\n`,
    );
    const service = new Service();
    const args = [MAIN, '--config', config, '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data')];
    service.#startedAt = monotonic();
    service.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...VM_SERVICE_FLAGS, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: '' },
      cwd: folder,
    });
    // It does not end with a standard input, so it must not outlive whoever measures it.
    process.once('exit', () => service.#child.kill());
    let said = '';
    while (!/serves (\S+)\n/.test(said)) {
      const [data] = await Promise.race([
        once(service.#child.stdout, 'data'),
        once(service.#child, 'exit').then(() => Promise.reject(new Error('the service ended'))),
      ]);
      said += String(data);
    }
    service.url = /serves (\S+)\n/.exec(said)[1];
    return service;
  }

  get pid() {
    return this.#child.pid;
  }

  /** @returns {Promise<Buffer>} the list, which waits until each context was heard of */
  async list() {
    const [answer] = await once(get(`${this.url}/api/vms`, { agent: this.#agent }), 'response');
    const parts = [];
    answer.on('data', (part) => parts.push(part));
    await once(answer, 'end');
    const body = Buffer.concat(parts);
    if (answer.statusCode !== 200 || answer.headers['svc-partial']) {
      throw new Error(`the list is ${answer.statusCode}: ${body.subarray(0, 200)}`);
    }
    return body;
  }

  /** @returns {Promise<number>} milliseconds from the process's start to the first list, which has so many entries */
  async firstList(size) {
    const list = await this.list();
    const took = monotonic() - this.#startedAt;
    const { length } = JSON.parse(String(list));
    if (length !== size) throw new Error(`the first list has ${length} entries, not ${size}`);
    return took;
  }

  /** MiB: `VmRSS` now, or `VmHWM` at its height. */
  memory(what = 'VmRSS') {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)[1]) / 1024;
  }

  /** Milliseconds of processor time so far, all threads. */
  processorTime() {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  }

  async end() {
    this.#agent.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
