import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const TICKS_PER_SECOND = 100;

/** A server in its own process, which prints its URL as a line of JSON. */
export class Child {
  static async start(args) {
    const child = new Child();
    child.process = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.process.stdout })) {
      const { url } = JSON.parse(line);
      if (url === undefined) continue;
      child.url = url;
      break;
    }
    child.process.stdout.resume();
    if (child.url === undefined) throw new Error(`${args.join(' ')} did not start`);
    return child;
  }

  /** Resident memory in MiB. */
  get memory() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))[1]) / 1024;
  }

  /** CPU time used so far, in µs. */
  get cpu() {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
  }

  async end() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}
