import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the fake behaves. */
export interface FakePodmanBehavior {
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly pull?: 'succeeds' | 'fails';
  /** Shortens the built disk, for tests that copy it. */
  readonly diskBytes?: number;
  /**
   * `writes nothing`: succeeds without a partition table. `hangs`: until the container is removed, or the behavior
   * changes.
   */
  readonly run?: 'succeeds' | 'fails' | 'writes nothing' | 'hangs';
}

/**
 * A program that takes the place of podman: it records its arguments, and does to the disk what an installation would
 * do. Instead of a container it has a process of its own, which survives the one that has started it.
 */
export class FakePodman {
  /** Contains the program `podman`, to be found through PATH. */
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-fake-podman-'));
  readonly program = join(this.folder, 'podman');

  constructor(behavior: FakePodmanBehavior = {}) {
    this.behave(behavior);
    writeFileSync(this.program, PROGRAM.replace('NODE', process.execPath), { mode: 0o755 });
  }

  behave(behavior: FakePodmanBehavior): void {
    this.put('behavior.json', { labels: { 'containers.bootc': '1' }, pull: 'succeeds', run: 'succeeds', ...behavior });
  }

  /** The arguments of each call, without those that ask for the version. */
  calls(): string[][] {
    const file = join(this.folder, 'calls');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as string[]).filter(([first]) => first !== '--version');
  }

  /** The authorized keys that the last container was given. */
  keys(): string | undefined {
    const file = join(this.folder, 'keys');
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  /** The name of the container, and whether it runs; undefined if there is none. */
  container(): { readonly name: string; readonly isRunning: boolean } | undefined {
    const file = join(this.folder, 'container.json');
    if (!existsSync(file)) return undefined;
    const { name, Status } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly name: string;
      readonly Status: string;
    };
    return { name, isRunning: Status === 'running' };
  }

  /** The container looks as after a restart of the machine. */
  interrupt(): void {
    const state = JSON.parse(readFileSync(join(this.folder, 'container.json'), 'utf8')) as object;
    this.put('container.json', { ...state, Status: 'exited', ExitCode: 0, FinishedAt: '0001-01-01T00:00:00Z' });
  }

  /** Kills the process of the container, if it runs, as the kernel does when the machine has no memory left. */
  kill(): void {
    const { pid, isRunning } = this.process();
    try {
      if (isRunning && pid !== undefined) process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  close(): void {
    this.kill();
    // The killed process may have created another file in the meantime.
    rmSync(this.folder, { recursive: true, maxRetries: 10 });
  }

  /** Replaces a file in one step: the container reads it at any time. */
  private put(name: string, content: object): void {
    const file = join(this.folder, name);
    writeFileSync(`${file}.next`, JSON.stringify(content));
    renameSync(`${file}.next`, file);
  }

  private process(): { readonly pid?: number; readonly isRunning: boolean } {
    const file = join(this.folder, 'container.json');
    if (!existsSync(file)) return { isRunning: false };
    const { pid, Status } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number; readonly Status: string };
    return { pid, isRunning: Status === 'running' };
  }
}

const PROGRAM = `#!NODE
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const { join, dirname } = require('node:path');
const own = dirname(process.argv[1]);
const args = process.argv.slice(2);
const behavior = JSON.parse(fs.readFileSync(join(own, 'behavior.json'), 'utf8'));
const file = (name) => join(own, name);
const put = (name, text) => { fs.writeFileSync(file(name + '.new'), text); fs.renameSync(file(name + '.new'), file(name)); };
const stateFile = file('container.json');
const storedState = () => (fs.existsSync(stateFile) ? JSON.parse(fs.readFileSync(stateFile, 'utf8')) : undefined);
const isAlive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };
// A container stores its end before it exits. One that is gone without it was killed.
const readState = () => {
  const seen = storedState();
  if (!seen || seen.Status !== 'running' || isAlive(seen.pid)) return seen;
  const state = storedState();
  return state && state.Status === 'running' ? { ...state, Status: 'exited', ExitCode: 137, FinishedAt: now() } : state;
};
const now = () => new Date().toISOString();
const NEVER = '0001-01-01T00:00:00Z';
if (args[0] === 'in-container') inContainer();
else {
  fs.appendFileSync(file('calls'), JSON.stringify(args) + '\\n');
  command();
}

function command() {
  if (args[0] === '--version') console.log('podman version 0.0.0-fake');
  if (args[0] === 'pull') {
    console.error('Trying to pull ' + args.at(-1));
    if (behavior.pull === 'fails') { console.error('Error: manifest unknown'); process.exitCode = 125; }
  }
  if (args[0] === 'image') console.log(JSON.stringify(behavior.labels));
  if (args[0] === 'container') {
    const state = readState();
    if (state && state.name === args.at(-1)) console.log(JSON.stringify(state));
    else { console.error('Error: no such container ' + args.at(-1)); process.exitCode = 125; }
  }
  if (args[0] === 'rm') {
    const state = readState();
    if (state && state.name === args.at(-1)) {
      try { if (state.Status === 'running') process.kill(state.pid, 'SIGKILL'); } catch {}
      for (const name of ['container.json', 'log']) fs.rmSync(file(name), { force: true });
    }
  }
  if (args[0] === 'run') start();
  if (args[0] === 'logs') follow();
  if (args[0] === 'wait') whenEnded((state) => console.log(state.ExitCode));
}

function start() {
  const folder = args.find((arg) => arg.endsWith(':/headgate')).slice(0, -':/headgate'.length);
  const keys = join(folder, 'authorized_keys');
  if (fs.existsSync(keys)) fs.copyFileSync(keys, file('keys'));
  const name = args[args.indexOf('--name') + 1];
  if (readState()) { console.error('Error: the container name ' + name + ' is already in use'); process.exitCode = 125; return; }
  fs.writeFileSync(file('log'), '');
  const child = spawn(process.execPath, [process.argv[1], 'in-container', folder], { detached: true, stdio: 'ignore' });
  put('container.json', JSON.stringify({ name, pid: child.pid, Status: 'running', ExitCode: 0, StartedAt: now(), FinishedAt: NEVER }));
  child.unref();
  console.log('0123456789ab');
}

function inContainer() {
  const print = (line) => fs.appendFileSync(file('log'), now() + ' ' + line + '\\n');
  const end = (code) => {
    const state = readState();
    if (state && state.pid === process.pid)
      put('container.json', JSON.stringify({ ...state, Status: 'exited', ExitCode: code, FinishedAt: now() }));
    process.exit();
  };
  const work = () => {
    const current = readState();
    if (!fs.existsSync(own)) process.exit();
    if (!current || current.pid !== process.pid) return setTimeout(work, 2);
    print('Installing image');
    if (behavior.run === 'fails') { print('error: no space left on device'); return end(1); }
    if (behavior.run === 'hangs') return waitForBehavior();
    finish();
  };
  const finish = () => {
    const run = JSON.parse(fs.readFileSync(file('behavior.json'), 'utf8')).run;
    if (run !== 'writes nothing') {
      const disk = fs.openSync(join(process.argv[3], 'disk.raw'), 'r+');
      fs.writeSync(disk, Buffer.from([0x55, 0xaa]), 0, 2, 510);
      if (behavior.diskBytes) fs.ftruncateSync(disk, behavior.diskBytes);
      fs.closeSync(disk);
    }
    print('Installation complete!');
    end(0);
  };
  const waitForBehavior = () => {
    const isHanging = fs.existsSync(file('behavior.json')) && JSON.parse(fs.readFileSync(file('behavior.json'), 'utf8')).run === 'hangs';
    if (!fs.existsSync(own)) process.exit();
    if (isHanging) setTimeout(waitForBehavior, 20);
    else finish();
  };
  process.on('SIGTERM', () => undefined);
  work();
}

function whenEnded(done) {
  const state = readState();
  if (!state) { console.error('Error: no such container'); process.exitCode = 125; return; }
  if (state.Status === 'running') setTimeout(whenEnded, 5, done);
  else done(state);
}

function follow() {
  const since = args.includes('--since') ? args[args.indexOf('--since') + 1] : '';
  let printed = 0;
  const copy = () => {
    const text = fs.existsSync(file('log')) ? fs.readFileSync(file('log'), 'utf8') : '';
    const complete = text.slice(0, text.lastIndexOf('\\n') + 1);
    const lines = complete.slice(printed).split('\\n').filter(Boolean);
    for (const line of lines) if (line.slice(0, line.indexOf(' ')) >= since) console.log(line);
    printed = complete.length;
  };
  const turn = () => {
    const state = readState();
    copy();
    if (!state) return;
    if (state.Status === 'running') setTimeout(turn, 5);
    else copy();
  };
  turn();
}
`;
