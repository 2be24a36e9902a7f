import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { VM_SERVICE_FLAGS } from '../../start/run-service.mjs';
import { monotonic } from './monotonic.mjs';

const MAIN = join(import.meta.dirname, '../../../apps/vm-service/dist/main.js');
/** The kernel's clock ticks per second, the unit of CPU time in /proc. */
const TICKS_PER_SECOND = 100;

/** The built service with one cluster, in its own process, started like `npm start` does. */
export class Service {
  #child;
  #startedAt;
  #agent = new Agent({ keepAlive: true });
  url = '';

  /**
   * Resolves when it listens, which is before its first list is complete.
   * @param {string} kubeconfig
   * @param {string} folder for its files
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
    // It does not exit when its standard input closes, so it must be killed with this process.
    process.once('exit', () => service.#child.kill());
    let output = '';
    while (!/serves (\S+)\n/.test(output)) {
      const [data] = await Promise.race([
        once(service.#child.stdout, 'data'),
        once(service.#child, 'exit').then(() => Promise.reject(new Error('the service exited'))),
      ]);
      output += String(data);
    }
    service.url = /serves (\S+)\n/.exec(output)[1];
    return service;
  }

  get pid() {
    return this.#child.pid;
  }

  /** @returns {Promise<Buffer>} the list, which waits until each context has synced */
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

  /**
   * @returns {Promise<number>} milliseconds from the start of the process to the first list, which must have `size`
   *   entries
   */
  async firstList(size) {
    const list = await this.list();
    const took = monotonic() - this.#startedAt;
    const { length } = JSON.parse(String(list));
    if (length !== size) throw new Error(`the first list has ${length} entries, not ${size}`);
    return took;
  }

  /** Memory in MiB: `VmRSS` is the current value, `VmHWM` the peak. */
  memory(field = 'VmRSS') {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)[1]) / 1024;
  }

  /** Milliseconds of CPU time of all threads so far. */
  processorTime() {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  }

  async end() {
    this.#agent.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
