import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the fake behaves. */
export interface FakePodmanBehavior {
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly pull?: 'succeeds' | 'fails';
  /** `writes nothing`: succeeds without a partition table. `hangs`: until the container is removed. */
  readonly run?: 'succeeds' | 'fails' | 'writes nothing' | 'hangs';
}

/**
 * A program that takes the place of podman: it records its arguments, and does to the disk what an installation would do. No
 * container runs.
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
    writeFileSync(
      join(this.folder, 'behavior.json'),
      JSON.stringify({ labels: { 'containers.bootc': '1' }, pull: 'succeeds', run: 'succeeds', ...behavior }),
    );
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

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}

const PROGRAM = `#!NODE
const fs = require('node:fs');
const { join, dirname } = require('node:path');
const own = dirname(process.argv[1]);
const args = process.argv.slice(2);
const behavior = JSON.parse(fs.readFileSync(join(own, 'behavior.json'), 'utf8'));
fs.appendFileSync(join(own, 'calls'), JSON.stringify(args) + '\\n');
const pidFile = join(own, 'running.pid');
if (args[0] === '--version') console.log('podman version 0.0.0-fake');
if (args[0] === 'pull') {
  console.error('Trying to pull ' + args.at(-1));
  if (behavior.pull === 'fails') { console.error('Error: manifest unknown'); process.exitCode = 125; }
}
if (args[0] === 'image') console.log(JSON.stringify(behavior.labels));
if (args[0] === 'rm' && fs.existsSync(pidFile)) {
  try { process.kill(Number(fs.readFileSync(pidFile, 'utf8')), 'SIGKILL'); } catch {}
  fs.rmSync(pidFile);
}
if (args[0] === 'run') {
  const folder = args.find((arg) => arg.endsWith(':/headgate')).slice(0, -':/headgate'.length);
  const keys = join(folder, 'authorized_keys');
  if (fs.existsSync(keys)) fs.copyFileSync(keys, join(own, 'keys'));
  console.log('Installing image');
  if (behavior.run === 'fails') { console.error('error: no space left on device'); process.exitCode = 1; }
  if (behavior.run === 'succeeds') {
    const disk = fs.openSync(join(folder, 'disk.raw'), 'r+');
    fs.writeSync(disk, Buffer.from([0x55, 0xaa]), 0, 2, 510);
    fs.closeSync(disk);
  }
  if (behavior.run === 'hangs') {
    fs.writeFileSync(pidFile, String(process.pid));
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1000);
  }
}
`;
