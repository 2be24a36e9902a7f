import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Api } from './api.js';
import { HeadgateProgram } from './headgate-program.js';
import { describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path));
const hasSsh = spawnSync('ssh', ['-V']).status === 0;
const why = SSHD !== undefined && hasSsh ? undefined : 'the client and the server of OpenSSH are not installed';

/** A real sshd for this user, with one key, on a free loopback port. */
class SshServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-sshd-'));
  readonly identity = join(this.folder, 'id');
  port = 0;
  private child: ChildProcess | undefined;

  async start(): Promise<this> {
    for (const key of [this.identity, join(this.folder, 'host')]) this.createKey(key);
    writeFileSync(join(this.folder, 'authorized'), readFileSync(`${this.identity}.pub`));
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    this.port = (probe.address() as AddressInfo).port;
    probe.close();
    await once(probe, 'close');
    const config = join(this.folder, 'sshd_config');
    const lines = [
      `ListenAddress 127.0.0.1:${this.port}`,
      `HostKey ${join(this.folder, 'host')}`,
      `AuthorizedKeysFile ${join(this.folder, 'authorized')}`,
      `PidFile ${join(this.folder, 'pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    // Its folder for the separation of privileges, which a service manager creates.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    this.child = spawn(SSHD!, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    this.child.stderr!.on('data', (data: Buffer) => (said += String(data)));
    await until(
      'sshd listens',
      async () => said,
      (text) => text.includes('Server listening'),
    );
    return this;
  }

  /** Another host that has the same address. */
  renewHostKey(): void {
    const key = join(this.folder, 'host');
    for (const file of [key, `${key}.pub`]) rmSync(file);
    this.createKey(key);
    this.child?.kill('SIGHUP');
  }

  async stop(): Promise<void> {
    this.child?.kill();
    if (this.child && this.child.exitCode === null) await once(this.child, 'exit');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private createKey(file: string): void {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  }
}

describeIf(why, 'ports of guests, with the OpenSSH of this machine and a simulated cluster', () => {
  let cluster: SimulatedCluster;
  let server: SshServer;
  let service: RunningService;
  let headgate: HeadgateProgram;
  let api: Api;
  const { username } = userInfo();

  beforeAll(async () => {
    server = await new SshServer().start();
    cluster = await SimulatedCluster.start('prod');
    // The guests have the sshd of this machine behind their port 22.
    cluster.simulation.chooseGuestPorts((_name, port) => (port === 22 ? dial(server.port) : undefined));
    cluster.simulation.seedVm({ name: 'web-1', namespace: 'tailvm' });
    const folder = server.folder;
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, cluster.sandbox.kubeconfig());
    const config = join(folder, 'headgate.yaml');
    writeFileSync(config, JSON.stringify({ contexts: [{ name: 'prod', kind: 'kubevirt', kubeconfig }] }));
    service = await RunningService.start(['--config', config]);
    api = new Api(service.url);
    await api.untilVm('web-1', 'runs', (vm) => vm?.status === 'Running');
    headgate = await HeadgateProgram.build(service.url);
  }, 600_000);
  afterAll(async () => {
    headgate?.remove();
    await service?.stop();
    await cluster?.sandbox.close();
    await server?.stop();
  });

  const options = () => ['-i', server.identity, '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=accept-new'];
  const ssh = (destination: string, ...args: string[]) =>
    headgate.run(['ssh', destination, '--', ...options(), ...args]);

  test('logs in with ssh, and passes on the output and the exit code of the command', async () => {
    const { code, stdout } = await ssh(`${username}@web-1`, 'echo "as $(id -un)"; exit 42');
    expect([stdout, code]).toEqual([`as ${username}\n`, 42]);
    const knownHosts = readFileSync(join(headgate.home, '.config/headgate/known_hosts'), 'utf8');
    expect(knownHosts).toMatch(/^headgate-[0-9a-f-]{36} ssh-ed25519 /);
    expect(existsSync(join(headgate.home, '.ssh/known_hosts'))).toBe(false);
  });

  test('passes on the piped input of ssh, with its end', async () => {
    const { child, ended, expect: seen } = headgate.start(['ssh', `${username}@web-1`, '--', ...options(), 'md5sum']);
    child.stdin.end(Buffer.alloc(8 * 1024 * 1024, 'piped '));
    expect(await seen(/[0-9a-f]{32}/)).toContain(
      execFileSync('md5sum', { input: Buffer.alloc(8 * 1024 * 1024, 'piped '), encoding: 'utf8' }).slice(0, 32),
    );
    expect(await ended).toBe(0);
  });

  test('refuses another host key of the same VM', async () => {
    server.renewHostKey();
    const { code, stderr } = await ssh(`${username}@web-1`, 'true');
    expect([code, stderr]).toEqual([255, expect.stringMatching(/HOST IDENTIFICATION HAS CHANGED/)]);
  });

  test('does not take a new VM with the name of an old one for the old one', async () => {
    expect((await headgate.run(['delete', 'web-1', '--yes', '--wait'])).code).toBe(0);
    await api.untilVm('web-1', 'is gone', (vm) => vm === undefined);
    const created = ['create', 'vm', 'web-1', '--container-disk', 'images/tiny:1', '--mem', '1Gi', '--start', '--wait'];
    expect((await headgate.run(created)).code).toBe(0);
    await api.untilVm('web-1', 'runs', (vm) => vm?.status === 'Running');
    const strict = ['-i', server.identity, '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=yes'];
    const { code, stderr } = await headgate.run(['ssh', `${username}@web-1`, '--', ...strict, 'true']);
    expect([code, stderr]).toEqual([255, expect.stringMatching(/No .* host key is known for headgate-/)]);
    expect((await ssh(`${username}@web-1`, 'true')).code).toBe(0);
  });

  test('opens a local port, over which ssh of its own connects', async () => {
    const forward = headgate.start(['port-forward', 'web-1', ':22']);
    const [, port = ''] = /127\.0\.0\.1:(\d+) leads/.exec(await forward.expect(/leads to port 22/)) ?? [];
    const known = ['-o', `UserKnownHostsFile=${join(server.folder, 'known')}`];
    const args = [...options(), ...known, '-p', port, '-l', username, '127.0.0.1', 'echo forwarded'];
    // The cluster is in this process, so that it must not wait here.
    expect((await promisify(execFile)('ssh', args)).stdout).toBe('forwarded\n');
    forward.child.kill('SIGINT');
    expect(await forward.ended).toBe(130);
  });

  test('keeps its token out of the list of processes', async () => {
    const body = { name: 'ports', actions: ['ports'], scope: {}, days: 1 };
    const { token } = (await api.send<{ token: string }>('POST', '/api/ext/tokens', body)).body;
    const child = spawn(
      process.execPath,
      [...headgate.commandOf([]).args, 'ssh', `${username}@web-1`, '--', ...options(), 'sleep 60'],
      {
        env: { ...headgate.commandOf([]).env, HEADGATE_TOKEN: token },
        stdio: 'ignore',
      },
    );
    const list = async () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    const seen = await until('the command runs', list, (text) => /^sleep 60$/m.test(text));
    expect(seen).toContain('port-forward --stdio');
    expect(seen).not.toContain(token);
    child.kill('SIGINT');
    await once(child, 'exit');
  });

  test('refuses ports that are closed, and VMs that are stopped', async () => {
    expect(await headgate.run(['port-forward', '--stdio', 'web-1', '81'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No program of web-1 accepts connections at port 81.'),
    });
    expect((await headgate.run(['stop', 'web-1', '--yes', '--wait'])).code).toBe(0);
    await api.untilVm('web-1', 'has stopped', (vm) => vm?.status === 'Stopped');
    expect((await headgate.run(['port-forward', '--stdio', 'web-1', '22'])).code).toBe(5);
  });
});

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  return socket;
}
