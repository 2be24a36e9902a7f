import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Prefix of the label that carries the serial number of a change. It is a tag of the VM, so that the service shows it.
 */
export const TAG = 'turn-';
const LABEL = `svc.dev/tag.${TAG}`;

/** A simulated cluster in its own process. Emits `changed` (serial, at) for each change. */
export class Cluster extends EventEmitter {
  #child;
  #answers = [];
  kubeconfig = '';

  /**
   * Resolves when the fleet exists.
   * @param {string} script the built changing-cluster.bench, or bare-watch.mjs
   * @param {number} size
   */
  static async start(script, size) {
    const cluster = new Cluster();
    cluster.#child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, String(size), LABEL], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(cluster.#child, 'exit').then(() => Promise.reject(new Error(`${script} ended`)));
    ended.catch(() => undefined);
    const first = new Promise((resolve) => {
      createInterface({ input: cluster.#child.stdout }).on('line', (line) => cluster.#take(JSON.parse(line), resolve));
    });
    ({ kubeconfig: cluster.kubeconfig } = await Promise.race([first, ended]));
    return cluster;
  }

  /** The client requests since the last call, by kind: `list virtualmachines.kubevirt.io` → 2. */
  requests() {
    return this.#ask('requests');
  }

  async churn(perSecond) {
    await this.#ask(`churn ${perSecond}`);
  }

  /** @returns {Promise<number>} the serial number of the last change */
  async stop() {
    return (await this.#ask('stop')).serials;
  }

  async end() {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }

  #ask(command) {
    const answer = new Promise((resolve) => this.#answers.push(resolve));
    this.#child.stdin.write(`${command}\n`);
    return answer;
  }

  #take(line, first) {
    if (line.changed !== undefined) this.emit('changed', line.changed, line.at);
    else if (line.kubeconfig !== undefined) first(line);
    else this.#answers.shift()(line.answer);
  }
}
