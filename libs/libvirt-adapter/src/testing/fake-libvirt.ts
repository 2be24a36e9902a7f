import { readFileSync } from 'node:fs';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { ProgramResult, RunProgram } from '../programs/run-program.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

interface FakeDomain {
  name: string;
  xml: string;
  state: string;
}

/**
 * A simulated virsh with a few domains and volumes. It prints what virsh 9.0 prints for the commands that the specs
 * use; any other command fails the test.
 */
export class FakeLibvirt {
  readonly domains = new Map<string, FakeDomain>();
  /** Paths of pools by name, and names of volumes by pool. */
  readonly pools = new Map<string, { path: string; volumes: Set<string>; availableBytes: number }>();
  /** Backing files of volumes, by path. */
  readonly backing = new Map<string, string>();
  /** Whether the networks are active, by name. */
  readonly networks = new Map<string, boolean>();
  /** Errors of `net-start`, consumed in order. */
  readonly networkFailures: string[] = [];
  /** Bytes that guests have read from their disks, by target. */
  readonly readBytes = new Map<string, number>();
  /** Targets of disks that guests release. */
  readonly detachable = new Set<string>();
  /** Commands that change state, in order. */
  readonly changes: string[] = [];
  /** Overrides the results of individual commands. */
  readonly scripted = new Map<string, Partial<ProgramResult>>();

  readonly run: RunProgram = (program, args) => {
    if (program !== 'virsh') return Promise.resolve({ code: null, stdout: '', stderr: '', missing: true });
    const words = args.slice(args.indexOf('--connect') + 2);
    const isScript = words.length === 1 && words[0]?.includes('; echo =');
    return Promise.resolve(isScript ? this.script(words[0] ?? '') : this.execute(words));
  };

  connection(): VirshConnection {
    return new VirshConnection({ uri: 'qemu:///system', run: this.run });
  }

  /** Adds a domain by its description. */
  add(xml: string, state = 'shut off (shutdown)'): string {
    const { name, uuid } = describeDomain(xml);
    this.domains.set(uuid, { name, xml, state });
    return uuid;
  }

  addPool(name: string, path: string, ...volumes: string[]): void {
    this.pools.set(name, { path, volumes: new Set(volumes), availableBytes: 100 * 1024 ** 3 });
  }

  private script(text: string): ProgramResult {
    const mark = /echo (=[^=]+=)$/.exec(text)?.[1] ?? '';
    const commands = text.split(`; echo ${mark}`).filter((command) => command !== '');
    const answers = commands.map((command) =>
      this.execute([...command.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word.replace(/\\(.)/g, '$1'))),
    );
    return {
      code: 0,
      stdout: answers.map(({ stdout }) => `${stdout}\n${mark}`).join(''),
      stderr: answers.map(({ stderr }) => stderr).join(''),
    };
  }

  private execute(words: readonly string[]): ProgramResult {
    const scripted = this.scripted.get(words[0] ?? '');
    if (scripted) return { code: 0, stdout: '', stderr: '', ...scripted };
    const [command = '', first = '', ...rest] = words;
    const handler = this.handlers[command];
    if (!handler) throw new Error(`The simulated virsh does not support: ${words.join(' ')}`);
    return handler(first, rest);
  }

  private readonly handlers: Record<string, (first: string, rest: readonly string[]) => ProgramResult> = {
    list: () => ok([...this.domains].map(([uuid, { name }]) => `${uuid} ${name}`).join('\n')),
    hostname: () => ok('host-1'),
    dumpxml: (first, rest) => this.ofDomain(first === '--inactive' ? (rest[0] ?? '') : first, ({ xml }) => xml),
    domstate: (uuid) => this.ofDomain(uuid, ({ state }) => state),
    dominfo: (uuid) => this.ofDomain(uuid, () => 'Persistent:     yes'),
    domblkinfo: (uuid) => this.ofDomain(uuid, () => ' vda      10737418240   1073741824   1073741824'),
    start: (uuid) => this.change(`start ${uuid}`, uuid, (domain) => (domain.state = 'running (booted)')),
    shutdown: (uuid) => this.change(`shutdown ${uuid}`, uuid, () => undefined),
    reboot: (uuid) => this.change(`reboot ${uuid}`, uuid, () => undefined),
    suspend: (uuid) => this.change(`suspend ${uuid}`, uuid, (domain) => (domain.state = 'paused (user)')),
    resume: (uuid) => this.change(`resume ${uuid}`, uuid, (domain) => (domain.state = 'running (unpaused)')),
    destroy: (uuid) => this.change(`destroy ${uuid}`, uuid, (domain) => (domain.state = 'shut off (destroyed)')),
    undefine: (uuid, rest) => this.change(['undefine', uuid, ...rest].join(' '), uuid, () => this.domains.delete(uuid)),
    domblkstat: (_uuid, [target = '']) =>
      ok(`${target} rd_req 1\n${target} rd_bytes ${this.readBytes.get(target) ?? 0}`),
    'detach-device': (uuid, [file = '', ...scope]) => this.changeDisk('detach-device', uuid, file, scope),
    'update-device': (uuid, [file = '', ...scope]) => this.changeDisk('update-device', uuid, file, scope),
    'net-list': (...[first, [second]]) => {
      const isActive = second !== '--inactive' && first !== '--inactive';
      return ok(
        [...this.networks]
          .filter(([, active]) => active === isActive)
          .map(([name]) => name)
          .join('\n'),
      );
    },
    'net-define': (file) => {
      const xml = readFileSync(file, 'utf8');
      const name = /<name>([^<]+)</.exec(xml)?.[1] ?? '';
      this.networks.set(name, false);
      this.changes.push(`net-define ${name} ${/address="([^"]+)"/.exec(xml)?.[1]}`);
      return ok('');
    },
    'net-dumpxml': (name) =>
      this.networks.has(name)
        ? ok(`<network><name>${name}</name></network>`)
        : failed(`error: failed to get network '${name}'\n`),
    'net-undefine': (name) => this.changeNetwork('net-undefine', name, () => this.networks.delete(name)),
    'net-autostart': (name) => this.changeNetwork('net-autostart', name, () => undefined),
    'net-start': (name) => {
      const failure = this.networkFailures.shift();
      if (failure !== undefined) return failed(`error: Failed to start network ${name}\nerror: ${failure}\n`);
      return this.changeNetwork('net-start', name, () => this.networks.set(name, true));
    },
    'pool-list': () => ok([...this.pools.keys()].join('\n')),
    'pool-refresh': () => ok(''),
    'pool-info': (name) =>
      this.ofPool(
        name,
        ({ availableBytes }) =>
          `Name:           ${name}\nState:          running\nCapacity:       214748364800\nAvailable:      ${availableBytes}\n`,
      ),
    'pool-dumpxml': (name) =>
      this.ofPool(name, ({ path }) => `<pool type='dir'><target><path>${path}</path></target></pool>`),
    'vol-list': (name) =>
      this.ofPool(name, ({ path, volumes }) =>
        [...volumes].map((volume) => ` ${volume}   ${path}/${volume}`).join('\n'),
      ),
    'vol-delete': (volume, [, pool = '']) => {
      const found = this.pools.get(pool)?.volumes.delete(volume);
      if (!found)
        return failed(
          `error: failed to get vol '${volume}'\nerror: Storage volume not found: no storage vol with matching path '${volume}'\n`,
        );
      this.changes.push(`vol-delete ${pool}/${volume}`);
      return ok(`Vol ${volume} deleted`);
    },
    'vol-dumpxml': (volume, [, pool]) => {
      const path = pool === undefined ? volume : `${this.pools.get(pool)?.path}/${volume}`;
      const isKnown = [...this.pools.values()].some(({ path: folder, volumes }) =>
        [...volumes].some((name) => `${folder}/${name}` === path),
      );
      if (!isKnown) return failed(`error: failed to get vol '${volume}'\n`);
      const backing = this.backing.get(path);
      const store = backing === undefined ? '' : `<backingStore><path>${backing}</path></backingStore>`;
      return ok(
        `<volume type='file'><name>${volume}</name><capacity unit='bytes'>1073741824</capacity><target><path>${path}</path><format type='qcow2'/></target>${store}</volume>`,
      );
    },
    'vol-path': (volume, [, pool = '']) => this.ofPool(pool, ({ path }) => `${path}/${volume}\n`),
    metadata: (uuid, rest) => this.change(`metadata ${rest.join(' ')}`, uuid, () => undefined),
  };

  private ofDomain(uuid: string, print: (domain: FakeDomain) => string): ProgramResult {
    const domain = this.domains.get(uuid);
    return domain ? ok(print(domain)) : failed(`error: failed to get domain '${uuid}'\n`);
  }

  private changeDisk(command: string, uuid: string, file: string, scope: readonly string[]): ProgramResult {
    const target = /<target dev="([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
    return this.change([command, uuid, target, ...scope].join(' '), uuid, (domain) => {
      if (!this.detachable.has(target)) return;
      const disks = domain.xml.split(/(?=<disk )/);
      const of = (disk: string): boolean => disk.includes(`<target dev="${target}"`);
      domain.xml = disks
        .map((disk) => (of(disk) ? disk.replace(/<source file="[^"]*"\/?>(<\/source>)?/, '') : disk))
        .join('');
    });
  }

  private ofPool(
    name: string,
    print: (pool: { path: string; volumes: Set<string>; availableBytes: number }) => string,
  ): ProgramResult {
    const pool = this.pools.get(name);
    return pool
      ? ok(print(pool))
      : failed(
          `error: failed to get pool '${name}'\nerror: Storage pool not found: no storage pool with matching name '${name}'\n`,
        );
  }

  private changeNetwork(command: string, name: string, act: () => void): ProgramResult {
    if (!this.networks.has(name)) return failed(`error: failed to get network '${name}'\n`);
    this.changes.push(`${command} ${name}`);
    act();
    return ok('');
  }

  private change(note: string, uuid: string, act: (domain: FakeDomain) => void): ProgramResult {
    const domain = this.domains.get(uuid);
    if (!domain) return failed(`error: failed to get domain '${uuid}'\n`);
    this.changes.push(note);
    act(domain);
    return ok('');
  }
}

const ok = (stdout: string): ProgramResult => ({ code: 0, stdout, stderr: '' });
const failed = (stderr: string): ProgramResult => ({ code: 1, stdout: '', stderr });
