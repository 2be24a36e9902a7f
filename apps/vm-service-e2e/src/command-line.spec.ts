import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ContainerView, TaskView, VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { HeadgateProgram } from './headgate-program.js';
import { describeIf } from './machine.js';
import { RunningService } from './running-service.js';

const why = spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'python3 is not installed';

describeIf(why, 'headgate, the command line, with npm start -- --sandbox', () => {
  let service: RunningService;
  let headgate: HeadgateProgram;
  let api: Api;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    api = new Api(service.url);
    headgate = await HeadgateProgram.build(service.url);
  }, 600_000);
  afterAll(async () => {
    headgate?.remove();
    await service?.stop();
  });

  test('lists the same instances as the API, and finds them with a query', async () => {
    const { body } = await api.send<VmView[]>('GET', '/api/vms');
    const names = async (...args: string[]) => (await headgate.run(['list', '-o', 'name', ...args])).stdout;
    expect(await names('--kind', 'vm')).toBe(body.map(({ ref }) => `${ref}\n`).join(''));
    const running = body.filter(({ status }) => status === 'Running').map(({ ref }) => `${ref}\n`);
    expect((await names('--kind', 'vm', 'status:running')).split('\n')).toHaveLength(running.length + 1);
    expect(await headgate.run(['list', 'nofield:x'])).toMatchObject({ code: 2, stdout: '' });
  });

  test('creates, changes, saves, migrates and deletes a VM', async () => {
    const created = ['create', 'vm', 'hgcli', '--container-disk', 'images/tiny:1', '--mem', '1Gi', '--tag', 'cli'];
    const plan = await headgate.run([...created, '--dry-run']);
    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('- create: VirtualMachine hgcli') });
    expect(await api.vm('hgcli')).toBeUndefined();
    expect((await headgate.run([...created, '--start', '--wait'])).code).toBe(0);
    await api.untilVm('hgcli', 'runs', (vm) => vm?.status === 'Running');
    expect(await headgate.run(created)).toMatchObject({ code: 5, stderr: expect.stringContaining('ALREADY_EXISTS') });

    expect((await headgate.run(['snapshot', 'create', 'hgcli', 'first', '--wait'])).code).toBe(0);
    expect(await headgate.json(['snapshot', 'list', 'hgcli'])).toMatchObject([{ name: 'first', ready: true }]);
    const migrated = await headgate.json<{ task: string }[]>(['migrate', 'hgcli', '--wait']);
    expect(migrated).toMatchObject([{ status: 'done' }]);
    expect(await headgate.json<TaskView>(['task', 'get', migrated[0]!.task])).toMatchObject({ kind: 'migrate' });
    expect(await headgate.run(['task', '-f', migrated[0]!.task])).toMatchObject({ code: 0 });
    expect(await headgate.run(['task', '-f', 'none'])).toMatchObject({ code: 4 });

    expect(await headgate.run(['delete', 'hgcli'])).toMatchObject({ code: 3, stdout: '' });
    expect((await api.vm('hgcli'))?.status).toBe('Running');
    expect((await headgate.run(['delete', 'hgcli', '--yes'])).code).toBe(0);
    await api.untilVm('hgcli', 'is gone', (vm) => vm === undefined);
  });

  test('applies declarations once, and shows the plan of a restart before', async () => {
    const [first, second] = (await headgate.json<VmView[]>([
      'list',
      '-k',
      'vm',
      'status:running',
      'cpu>1',
      '--limit',
      '2',
    ])) as [VmView, VmView];
    const file = join(headgate.home, 'fleet.yaml');
    writeFileSync(
      file,
      [
        `kind: vm\nnamespace: ${first.namespace}\nname: ${first.name}\ntags: [declared]\n`,
        `kind: vm\nnamespace: ${second.namespace}\nname: ${second.name}\nprotected: true\n`,
      ].join('---\n'),
    );
    expect((await headgate.run(['diff', '-f', file])).stdout).toContain('- add tag declared:');
    expect((await headgate.run(['apply', '-f', file])).code).toBe(0);
    expect(await headgate.json(['apply', '-f', file])).toMatchObject([
      { status: 'unchanged' },
      { status: 'unchanged' },
    ]);
    expect((await headgate.run(['diff', '-f', file, '--exit-code'])).code).toBe(0);
    writeFileSync(file, `kind: vm\nnamespace: ${first.namespace}\nname: ${first.name}\ncpu: ${first.cpu - 1}\n`);
    // A guest can take CPUs while it runs, but gives none back.
    expect(await headgate.run(['apply', '-f', file])).toMatchObject({ code: 3 });
    writeFileSync(file, `kind: vm\nnamespace: ${first.namespace}\nname: ${first.name}\nmemory: 1Gi\n`);
    expect(await headgate.run(['apply', '-f', file, '-y'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/document 1: .*memory/),
    });
  });

  test('follows changes until Ctrl-C', async () => {
    const events = headgate.start(['events', '-f']);
    const { name, namespace } = (await headgate.json<VmView[]>(['list', '-k', 'vm', 'is:running', '--limit', '1']))[0]!;
    // The stream begins with a snapshot, which shows nothing, so the change is repeated until it is seen.
    const seen = events.expect(/ (Running → Paused|Paused → Running)/);
    let hasEnded = false;
    const end = () => (hasEnded = true);
    seen.then(end, end);
    for (let turn = 0; !hasEnded; turn++) {
      await api.send('POST', `/api/vms/${namespace}/${name}/${turn % 2 ? 'unpause' : 'pause'}`);
      const status = turn % 2 ? 'Running' : 'Paused';
      await api.untilVm(name, `is ${status}`, (vm) => vm?.status === status);
    }
    await seen;
    events.child.kill('SIGINT');
    expect(await events.ended).toBe(130);
  });

  test('uses a serial console on a terminal, and hands a graphical one to a viewer', async () => {
    const { name } = (await headgate.json<VmView[]>(['list', '-k', 'vm', 'status:running', '--limit', '1']))[0]!;
    const serial = headgate.start(['console', name], { onTerminal: true });
    await serial.expect(/Ctrl-\] leaves the console/);
    serial.type('\r');
    await serial.expect(/[$#:>] ?/);
    serial.type('\x1d');
    expect(await serial.ended).toBe(0);
    const screen = headgate.start(['console', name, '--vnc']);
    const [, port] = /127\.0\.0\.1::(\d+)/.exec(await screen.expect(/127\.0\.0\.1::\d+\n[^]*Ctrl-C/)) ?? [];
    const viewer = connect(Number(port), '127.0.0.1');
    const greeting = await new Promise<string>((resolve) => viewer.once('data', (data) => resolve(String(data))));
    expect(greeting).toMatch(/^RFB 003\.00\d\n/);
    viewer.destroy();
    expect(await screen.ended).toBe(0);
  });

  test('logs in with a token, keeps its scope, and reports what it does not permit', async () => {
    const { body } = await api.send<{ token: string; id: string }>('POST', '/api/ext/tokens', {
      name: 'cli',
      actions: ['read'],
      scope: {},
      days: 1,
    });
    const token = join(headgate.home, 'token');
    writeFileSync(token, `${body.token}\n`, { mode: 0o600 });
    // Without the variable, the context decides.
    const own = { HEADGATE_SERVER: '' };
    expect(await headgate.run(['login', service.url, '--token-file', token, '--name', 'it'], own)).toMatchObject({
      code: 0,
    });
    expect(statSync(join(headgate.home, '.config/headgate/config.yaml')).mode & 0o777).toBe(0o600);
    expect((await headgate.run(['whoami'], own)).stdout).toContain(`Token:  ${body.id}`);
    const { name } = (await headgate.json<VmView[]>(['list', '-k', 'vm', 'is:running', '--limit', '1']))[0]!;
    expect(await headgate.run(['stop', name, '-y'], own)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('NOT_PERMITTED'),
    });
    await api.send('DELETE', `/api/ext/tokens/${body.id}`);
    expect((await headgate.run(['list'], own)).code).toBe(3);
  });

  test('lists and saves files of a container', async () => {
    const { body } = await api.send<ContainerView[]>('GET', '/api/cts');
    const { ref, name } = body.find(({ phase }) => phase === 'Running')!;
    const names = await headgate.run(['files', 'list', ref, '/etc', '-o', 'name']);
    expect(names.stdout.split('\n')).toContain('hostname');
    const file = join(headgate.home, 'hostname');
    expect(await headgate.json(['files', 'get', ref, '/etc/hostname', '--to', file])).toMatchObject({ file });
    expect(readFileSync(file, 'utf8')).toBe(`${name}\n`);
    expect(await headgate.run(['files', 'get', ref, '/etc', '--to', '-'])).toMatchObject({ code: 5, stdout: '' });
    expect(await headgate.run(['files', 'list', ref, '/none'])).toMatchObject({ code: 4, stdout: '' });
  });

  test('checks the service', async () => {
    const { code, stdout } = await headgate.run(['doctor']);
    expect([0, 1]).toContain(code);
    expect(stdout).toContain('KubeVirt v1.9.0 is deployed.');
  });
});
