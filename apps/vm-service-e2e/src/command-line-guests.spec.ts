import { randomBytes } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupPointView, FileEntryView, FileSessionView, TaskView, VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { HeadgateProgram } from './headgate-program.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { RunningService } from './running-service.js';

const BOOT_MS = 600_000;
/** Of the user of the guest. */
const HOME = '/home/headgate';
const hasTerminals = spawnSync('python3', ['-c', 'import pty']).status === 0;
const why = noGuestsBecause() ?? (hasTerminals ? undefined : 'python3 is not installed');

/** Every test goes on with the VM of the one before, as a user does. */
describeIf(why, 'headgate, the command line, with real guests of npm start -- --local', () => {
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-cli-guests-'));
  let service: RunningService;
  let headgate: HeadgateProgram;
  let api: Api;

  beforeAll(async () => {
    const [config, backups] = [join(folder, 'headgate.yaml'), join(folder, 'backups')];
    mkdirSync(backups);
    writeFileSync(config, JSON.stringify({ backups: { folders: [backups] } }));
    service = await RunningService.start(['--local', '--config', config]);
    api = new Api(service.url);
    const repository = { kind: 'directory', path: join(backups, 'lab'), password: 'correct horse battery' };
    const added = await api.send('POST', '/api/ext/backups/targets', { name: 'lab', ...repository });
    expect(added.status).toBe(201);
    headgate = await HeadgateProgram.build(service.url);
  }, BOOT_MS);
  afterAll(async () => {
    headgate?.remove();
    for (const vm of [`${name}-back`, name]) await removeLeftovers(vm);
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('creates a VM from an image, after its plan', async () => {
    const create = ['create', 'vm', name, '--image', 'tiny', '--cpu', '1', '--mem', '192Mi', '--disk', '64Mi'];
    const plan = await headgate.run([...create, '--dry-run']);
    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining(name) });
    expect(await api.vm(name)).toBeUndefined();
    expect((await headgate.run([...create, '--wait'])).code).toBe(0);
    expect(await headgate.json<VmView[]>(['list', '-k', 'vm', `name:${name}`])).toMatchObject([
      { name, status: 'Stopped' },
    ]);
    expect(await headgate.run(create)).toMatchObject({ code: 5, stderr: expect.stringContaining('ALREADY_EXISTS') });
  });

  test('starts it, and refuses what needs a VM that runs before', async () => {
    expect((await headgate.run(['port-forward', '--stdio', name, '22'])).code).toBe(5);
    expect((await headgate.run(['start', name, '--dry-run'])).code).toBe(0);
    expect((await api.vm(name))?.status).toBe('Stopped');
    expect((await headgate.run(['start', name, '--yes'])).code).toBe(0);
    await api.untilVm(name, 'runs', (vm) => vm?.status === 'Running');
  });

  test(
    'logs in on its serial console, on a terminal',
    async () => {
      const serial = headgate.start(['console', name], { onTerminal: true });
      await serial.expect(/login: /);
      serial.type('headgate\r');
      await serial.expect(/[Pp]assword: /);
      // The guest's login clears its input after it printed the prompt, so that a password can get lost.
      const shell = serial.expect(/[$#] /);
      let isIn = false;
      shell.then(
        () => (isIn = true),
        () => (isIn = true),
      );
      while (!isIn) {
        serial.type('headgate\r');
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
      await shell;
      serial.type('echo "sum $((40 + 2))" | tee ~/sum; sync; echo "written $?"\r');
      await serial.expect(/sum 42[^]*written 0/);
      serial.type('\x1d');
      expect(await serial.ended).toBe(0);
    },
    BOOT_MS,
  );

  test('connects to a port of the guest, or reports why it can not', async () => {
    const { code, stderr } = await headgate.run(['port-forward', '--stdio', name, '81']);
    // A guest on a network of libvirt refuses the port; without a network there is no address.
    expect(code).toBe(1);
    expect(stderr).toMatch(/accepts connections at port 81|does not answer at port 81|has leased an address/);
  });

  test('saves it in a snapshot, and follows a task', async () => {
    expect((await headgate.run(['snapshot', 'create', name, 'first', '--wait', '--yes'])).code).toBe(0);
    expect(await headgate.json(['snapshot', 'list', name])).toMatchObject([{ name: 'first', ready: true }]);
    const [task] = await headgate.json<TaskView[]>(['task', 'list']);
    expect(await headgate.run(['task', '-f', task!.id])).toMatchObject({ code: 0 });
    expect(await headgate.run(['task', '-f', 'none'])).toMatchObject({ code: 4 });
  });

  test(
    'backs it up while it runs, shows the files of the backup, and restores it as another VM',
    async () => {
      const created = await headgate.run(['backup', 'create', name, '--wait']);
      expect(created).toMatchObject({ code: 0 });
      const points = await headgate.json<BackupPointView[]>(['backup', 'list', name]);
      expect(points).toMatchObject([{ consistency: expect.stringMatching(/frozen|crash/) as string }]);
      const id = points[0]!.id.slice(0, 8);
      const volumes = await headgate.json<FileSessionView['volumes']>(['files', 'list', `backup:${id}`]);
      const { number } = volumes.find(({ fileSystem }) => fileSystem === 'ext4')!;
      const [source, volume] = [`backup:${id}`, String(number)];
      const entries = await headgate.json<FileEntryView[]>(['files', 'list', source, volume, HOME]);
      expect(entries.find((entry) => entry.name === 'sum')).toMatchObject({ kind: 'file', sizeBytes: 7 });
      const [file, archive] = [join(folder, 'sum'), join(folder, 'home.tar')];
      expect((await headgate.run(['files', 'get', source, volume, `${HOME}/sum`, '--to', file])).code).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe('sum 42\n');
      expect((await headgate.run(['files', 'get', source, volume, HOME, '--archive', '--to', archive])).code).toBe(0);
      expect(execFileSync('tar', ['--to-stdout', '-xf', archive, '--wildcards', '*sum'], { encoding: 'utf8' })).toBe(
        'sum 42\n',
      );
      const restored = await headgate.run(['backup', 'restore', id, `${name}-back`, '--wait']);
      expect(restored).toMatchObject({ code: 0 });
      expect((await api.vm(`${name}-back`))?.status).toBe('Stopped');
      expect((await headgate.run(['delete', `${name}-back`, '--yes', '--wait'])).code).toBe(0);
      expect((await api.vm(name))?.status).toBe('Running');
      expect((await headgate.run(['backup', 'delete', id, '--yes'])).code).toBe(0);
      expect(await headgate.json(['backup', 'list'])).toEqual([]);
    },
    BOOT_MS,
  );

  test('applies a declaration once', async () => {
    const file = join(headgate.home, 'fleet.yaml');
    writeFileSync(file, `kind: vm\nnamespace: local\nname: ${name}\ntags: [declared]\n`);
    expect((await headgate.run(['diff', '-f', file, '--exit-code'])).code).toBe(7);
    expect((await headgate.run(['apply', '-f', file])).code).toBe(0);
    expect(await headgate.json(['apply', '-f', file])).toMatchObject([{ status: 'unchanged' }]);
    expect((await headgate.run(['diff', '-f', file, '--exit-code'])).code).toBe(0);
  });

  test('stops and deletes it, each after a confirmation', async () => {
    expect(await headgate.run(['stop', name])).toMatchObject({ code: 3 });
    expect((await headgate.run(['stop', name, '--yes'])).code).toBe(0);
    await api.untilVm(name, 'has stopped', (vm) => vm?.status === 'Stopped');
    expect(await headgate.run(['delete', name])).toMatchObject({ code: 3 });
    expect((await headgate.run(['snapshot', 'delete', name, 'first', '--yes', '--wait'])).code).toBe(0);
    expect((await headgate.run(['delete', name, '--yes', '--wait'])).code).toBe(0);
    await api.untilVm(name, 'is gone', (vm) => vm === undefined);
    expect(await leftoversOf(name)).toEqual([]);
    expect((await headgate.run(['get', name])).code).toBe(4);
  });
});
