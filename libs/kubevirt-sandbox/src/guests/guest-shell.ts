import { posix } from 'node:path';
import type { GuestFacts } from './guest-facts.js';
import { guestFiles, type GuestFiles, listDirectory } from './guest-files.js';

/** The functions of the machine that a shell uses. */
export interface GuestPower {
  powerOff(): void;
  reboot(): void;
}

type Command = (args: string[], shell: GuestShell) => string;

/** A small shell: enough for a person, or a test, to see that a console is connected to the right guest. */
export class GuestShell {
  directory: string;
  finished = false;
  /** `$?` after the last line: 127 for an unknown command. */
  exitCode = 0;
  readonly files: GuestFiles;

  constructor(
    readonly facts: GuestFacts,
    readonly user: string,
    readonly power: GuestPower,
    readonly now: () => number,
    files?: GuestFiles,
  ) {
    this.directory = user === 'root' ? '/root' : `/home/${user}`;
    this.files = files ?? guestFiles(facts, user === 'root' ? facts.profile.defaultUser : user);
  }

  get prompt(): string {
    const home = this.user === 'root' ? '/root' : `/home/${this.user}`;
    const place = this.directory === home ? '~' : this.directory;
    return `[${this.user}@${this.facts.hostname} ${place}]${this.user === 'root' ? '#' : '$'} `;
  }

  /** Runs one line and returns its output, each line ended by a new line. */
  run(line: string): string {
    let output = '';
    // The commands, and between them what separates them.
    const [first = '', ...rest] = line.split(/\s*(;|&&)\s*/);
    output += this.runOne(first.trim());
    for (let index = 0; index < rest.length && !this.finished; index += 2) {
      if (rest[index] === '&&' && this.exitCode !== 0) continue;
      output += this.runOne((rest[index + 1] ?? '').trim());
    }
    return output;
  }

  resolve(path: string): string {
    return posix.resolve(this.directory, path.replace(/^~/, this.user === 'root' ? '/root' : `/home/${this.user}`));
  }

  private runOne(line: string): string {
    if (line === '' || line.startsWith('#')) return '';
    const [text, target] = line.split(/\s*>\s*/);
    const words = text!.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
    const [name, ...args] = words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
    if (name === 'sudo') return this.runOne(line.replace(/^sudo\s*/, ''));
    const command = COMMANDS.get(name!);
    this.exitCode = command ? 0 : 127;
    const output = command ? command(args, this) : `-bash: ${name}: command not found\n`;
    if (command && output.includes(': No such file or directory\n')) this.exitCode = 1;
    if (target === undefined) return output;
    this.files.set(this.resolve(target), output);
    return '';
  }
}

const uptime = ({ facts, now }: GuestShell): string => {
  const minutes = Math.floor((now() - facts.bootedAt) / 60_000);
  const clock = new Date(now()).toISOString().slice(11, 19);
  return ` ${clock} up ${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')},  1 user,  load average: 0.08, 0.03, 0.01\n`;
};

const processes = (shell: GuestShell): string =>
  [
    '    PID TTY          TIME CMD',
    '      1 ?        00:00:02 systemd',
    '    402 ?        00:00:00 qemu-ga',
    '    517 ttyS0    00:00:00 bash',
    '    533 ttyS0    00:00:00 ps',
  ]
    .filter((line) => shell.facts.profile.agent || !line.includes('qemu-ga'))
    .map((line) => `${line}\n`)
    .join('');

const addresses = ({ facts }: GuestShell): string =>
  [
    '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536\n    inet 127.0.0.1/8 scope host lo',
    ...facts.interfaces.map(
      ({ name, address, mac }, index) =>
        `${index + 2}: ${name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450\n    link/ether ${mac}\n    inet ${address}/24 scope global ${name}`,
    ),
  ]
    .map((line) => `${line}\n`)
    .join('');

const listFiles: Command = (args, shell) => {
  const path = shell.resolve(args.find((arg) => !arg.startsWith('-')) ?? '.');
  if (shell.files.has(path)) return `${path}\n`;
  const names = listDirectory(shell.files, path);
  return names ? `${names.join('  ')}\n` : `ls: cannot access '${path}': No such file or directory\n`;
};

const readFiles: Command = (args, shell) =>
  args.map((arg) => shell.files.get(shell.resolve(arg)) ?? `cat: ${arg}: No such file or directory\n`).join('');

const changeDirectory: Command = ([path = '~'], shell) => {
  const target = shell.resolve(path);
  if (target !== '/' && !listDirectory(shell.files, target) && target !== shell.resolve('~')) {
    return `-bash: cd: ${path}: No such file or directory\n`;
  }
  shell.directory = target;
  return '';
};

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['ls', listFiles],
  ['cat', readFiles],
  ['cd', changeDirectory],
  ['pwd', (_args, { directory }) => `${directory}\n`],
  ['echo', (args) => `${args.join(' ')}\n`],
  ['whoami', (_args, { user }) => `${user}\n`],
  [
    'id',
    (_args, { user }) => (user === 'root' ? 'uid=0(root) gid=0(root)\n' : `uid=1000(${user}) gid=1000(${user})\n`),
  ],
  ['hostname', (_args, { facts }) => `${facts.hostname}\n`],
  ['nproc', (_args, { facts }) => `${facts.cpus}\n`],
  ['date', (_args, { now }) => `${new Date(now()).toUTCString()}\n`],
  ['uptime', (_args, shell) => uptime(shell)],
  ['ps', (_args, shell) => processes(shell)],
  ['ip', (_args, shell) => addresses(shell)],
  ['free', (_args, { facts }) => `Mem: ${Math.floor(facts.memoryBytes / 1024)} total (KiB)\n`],
  ['lsblk', (_args, { facts }) => facts.disks.map(({ device, bytes }) => `${device} ${bytes} disk\n`).join('')],
  ['uname', (args, { facts }) => unameLine(args, facts)],
  ['clear', () => '\x1b[H\x1b[2J'],
  ['true', () => ''],
  ['false', (_args, shell) => fail(shell, 1)],
  ['sync', () => ''],
  ['help', () => `Simulated shell. Commands: ${[...COMMANDS.keys()].join(' ')}\n`],
  ['poweroff', (_args, shell) => halt(shell, () => shell.power.powerOff())],
  ['halt', (_args, shell) => halt(shell, () => shell.power.powerOff())],
  ['shutdown', (_args, shell) => halt(shell, () => shell.power.powerOff())],
  ['reboot', (_args, shell) => halt(shell, () => shell.power.reboot())],
  ['exit', ([code], shell) => leave(shell, Number(code ?? 0))],
  ['logout', (_args, shell) => leave(shell)],
]);

function unameLine(args: string[], { hostname, profile }: GuestFacts): string {
  if (args.includes('-a'))
    return `Linux ${hostname} ${profile.kernelRelease} ${profile.kernelVersion} x86_64 GNU/Linux\n`;
  if (args.includes('-r')) return `${profile.kernelRelease}\n`;
  if (args.includes('-n')) return `${hostname}\n`;
  return 'Linux\n';
}

function fail(shell: GuestShell, code: number): string {
  shell.exitCode = code;
  return '';
}

function leave(shell: GuestShell, code = 0): string {
  shell.finished = true;
  shell.exitCode = code & 255;
  return 'logout\n';
}

function halt(shell: GuestShell, act: () => void): string {
  shell.finished = true;
  act();
  return '';
}
