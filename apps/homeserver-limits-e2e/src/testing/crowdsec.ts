import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { endProcess } from './end-process.js';
import { describeWhere, installedPeer } from './peers.js';
import { freePort, untilAccepting } from './ports.js';

const run = promisify(execFile);

const CROWDSEC = installedPeer('crowdsec');
const BOUNCER = installedPeer('crowdsec-custom-bouncer');

export const describeWithCrowdsec = describeWhere(CROWDSEC, 'crowdsec');
export const describeWithBouncer = describeWhere(BOUNCER, 'crowdsec-custom-bouncer');

export interface LapiDecision {
  readonly value: string;
  readonly scenario: string;
  readonly origin: string;
  readonly duration: string;
}

/** CrowdSec's local API, with one machine and one bouncer, in a folder of its own. */
export class CrowdsecApi {
  static readonly MACHINE = 'gateway';
  static readonly PASSWORD = 'the password of the machine';
  static readonly KEY = 'the-key-of-the-bouncer';
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** Nothing listens yet. */
  static async prepare(): Promise<CrowdsecApi> {
    const api = new CrowdsecApi(await mkdtemp(join(tmpdir(), 'limits-e2e-crowdsec-')), await freePort());
    await api.configure();
    await api.cscli('machines', 'add', CrowdsecApi.MACHINE, '--password', CrowdsecApi.PASSWORD, '--force');
    await api.cscli('bouncers', 'add', 'limits', '--key', CrowdsecApi.KEY);
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    this.process = spawn(CROWDSEC ?? '', ['-no-cs', '-c', this.config], { stdio: 'ignore', cwd: this.folder });
    await untilAccepting(this.port, this.process);
  }

  /** The decisions in force. */
  async decisions(): Promise<LapiDecision[]> {
    const response = await fetch(`${this.url}/v1/decisions`, { headers: { 'X-Api-Key': CrowdsecApi.KEY } });
    return ((await response.json()) as LapiDecision[] | null) ?? [];
  }

  ban(address: string): Promise<string> {
    return this.cscli('decisions', 'add', '--ip', address, '--duration', '1h');
  }

  unban(address: string): Promise<string> {
    return this.cscli('decisions', 'delete', '--ip', address);
  }

  async dispose(): Promise<void> {
    if (this.process) await endProcess(this.process);
    await rm(this.folder, { recursive: true, force: true });
  }

  private get config(): string {
    return join(this.folder, 'config.yaml');
  }

  private async cscli(...args: string[]): Promise<string> {
    const program = join(dirname(CROWDSEC ?? ''), 'cscli');
    return (await run(program, ['-c', this.config, ...args], { cwd: this.folder })).stdout;
  }

  private async configure(): Promise<void> {
    const { folder } = this;
    const files = {
      'simulation.yaml': 'simulation: false\n',
      'profiles.yaml': 'name: none\nfilters: ["false"]\ndecisions: []\non_success: break\n',
      'credentials.yaml': '',
      'config.yaml': `
common: { daemonize: false, log_media: stdout, log_level: error, working_dir: "${folder}" }
config_paths:
  config_dir: "${folder}"
  data_dir: "${folder}"
  simulation_path: "${folder}/simulation.yaml"
  hub_dir: "${folder}"
  index_path: "${folder}/.index.json"
  notification_dir: "${folder}"
  plugin_dir: "${folder}"
cscli: { output: raw }
db_config: { log_level: error, type: sqlite, db_path: "${folder}/crowdsec.db", use_wal: false }
api:
  client: { credentials_path: "${folder}/credentials.yaml" }
  server:
    log_level: error
    listen_uri: "127.0.0.1:${this.port}"
    profiles_path: "${folder}/profiles.yaml"
    console_path: "${folder}/console.yaml"
prometheus: { enabled: false }
`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  }
}

/** A bouncer of CrowdSec, which calls a program for each change of its bans. This one writes them to a file. */
export class CustomBouncer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {}

  /** @param url the origin of the API that has the decisions */
  static async start(url: string, key: string): Promise<CustomBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-bouncer-'));
    const program = join(folder, 'write');
    await writeFile(join(folder, 'bans'), '');
    await writeFile(program, `#!/bin/sh\necho "$1" "$2" "$4" >> '${folder}/bans'\n`);
    await chmod(program, 0o755);
    const config = `
bin_path: "${program}"
piddir: "${folder}"
update_frequency: 200ms
cache_retention_duration: 1s
daemonize: false
log_mode: stdout
log_level: info
api_url: "${url}/"
api_key: "${key}"
prometheus: { enabled: false, listen_addr: 127.0.0.1, listen_port: "0" }
`;
    await writeFile(join(folder, 'bouncer.yaml'), config);
    const process = spawn(BOUNCER ?? '', ['-c', join(folder, 'bouncer.yaml')], { stdio: 'ignore' });
    return new CustomBouncer(process, folder);
  }

  /** Resolves when the bouncer has written a change, such as `add 192.0.2.1`. @returns the reason that it got */
  async has(change: string): Promise<string> {
    for (;;) {
      const line = (await readFile(join(this.folder, 'bans'), 'utf8'))
        .split('\n')
        .find((one) => one.startsWith(`${change} `));
      if (line !== undefined) return line.slice(change.length + 1);
      if (this.process.exitCode !== null) throw new Error(`the bouncer ended with ${this.process.exitCode}`);
      await new Promise((resume) => setImmediate(resume));
    }
  }

  async dispose(): Promise<void> {
    await endProcess(this.process);
    await rm(this.folder, { recursive: true, force: true });
  }
}
