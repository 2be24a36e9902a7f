import type { BackupPointView, BackupTargetView, PlanView } from '@headgate/api-contracts';
import { FakeService } from '../testing/fake-service.js';
import { vmView } from '../testing/instances.js';
import { Cli } from '../testing/run-cli.js';

const PLAN: PlanView = { steps: [{ name: 'back up', detail: 'web-1' }], warnings: [], refusals: [] };
const target = (name: string, id: string): BackupTargetView => ({
  id,
  name,
  kind: 'directory',
  createdAt: '2026-01-01T00:00:00.000Z',
});
const point = (id: string, time: string, more: Partial<BackupPointView> = {}): BackupPointView => ({
  id: id.padEnd(64, '0'),
  time,
  ref: 'vm/lab/default/web-1',
  uid: 'uid-web',
  consistency: 'frozen',
  sizeBytes: 21_474_836_480,
  ...more,
});
const NIGHTLY = target('nightly', 'feed000000000001');
const OFFSITE = target('offsite', 'feed000000000002');
const OLD = point('aaaaaaaa', '2026-01-01T02:00:00.000Z', {
  proof: { state: 'failed', at: '2026-01-01T03:00:00.000Z', reason: 'No sign\x1b within 5 min.' },
});
const NEW = point('aaaaaabb', '2026-01-02T02:00:00.000Z');
const MIDDLE = point('cccccccc', '2026-01-01T14:00:00.000Z');
const POINTS = '/api/ext/backups/targets/feed000000000001/points';

describe('headgate backup', () => {
  let service: FakeService;
  let cli: Cli;

  beforeEach(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
    service.json('GET /api/vms', [vmView()]).json('GET /api/cts', []);
    service.json('GET /api/ext/backups/targets', [NIGHTLY, OFFSITE]);
    service.json(`GET ${POINTS}`, [OLD, NEW]);
    service.json('GET /api/ext/backups/targets/feed000000000002/points', [MIDDLE]);
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  const change = (route: string, result: unknown, plan: PlanView = PLAN) =>
    service.on(route, (response, { url }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(url.includes('dryRun=true') ? plan : result));
    });
  const changesSent = () =>
    service.requests.filter(({ method, url }) => method !== 'GET' && !url.includes('dryRun=true'));

  test('targets lists the repositories', async () => {
    expect((await cli.run(['backup', 'targets', '-o', 'name'])).stdout).toBe('nightly\noffsite\n');
    service.json('GET /api/ext/backups/targets', []);
    expect((await cli.run(['backup', 'targets'])).stderr).toMatch(/^There are no backup targets\./);
  });

  test('list shows the backups of all targets, the newest first', async () => {
    const { code, stdout } = await cli.run(['backup', 'list', '-o', 'wide']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
      'ID VM TIME SIZE CONSISTENCY BOOTED TARGET REASON',
      'aaaaaabb vm/lab/default/web-1 2026-01-02T02:00:00.000Z 20 GiB frozen not tried nightly -',
      'cccccccc vm/lab/default/web-1 2026-01-01T14:00:00.000Z 20 GiB frozen not tried offsite -',
      'aaaaaaaa vm/lab/default/web-1 2026-01-01T02:00:00.000Z 20 GiB frozen failed nightly No sign\\x1b within 5 min.',
      '',
    ]);
  });

  test('list is limited to a target and to a VM, which may be gone', async () => {
    const ids = await cli.json<BackupPointView[]>(['backup', 'list', 'web-1', '--target', 'nightly']);
    expect(ids.map(({ id }) => id)).toEqual([NEW.id, OLD.id]);
    await cli.run(['backup', 'list', 'vm/lab/default/gone', '--target', 'nightly']);
    expect(service.lines.filter((line) => line.includes('/points'))).toEqual([
      `GET ${POINTS}?ref=vm%2Flab%2Fdefault%2Fweb-1`,
      `GET ${POINTS}?ref=vm%2Flab%2Fdefault%2Fgone`,
    ]);
    const { code, stderr } = await cli.run(['backup', 'list', '--target', 'weekly']);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: 'headgate: There is no backup target "weekly". There are: nightly, offsite. (BACKUP_TARGET_NOT_FOUND)\n',
    });
  });

  test('create backs up each VM to the chosen target', async () => {
    change('POST /api/ext/vms/default/web-1/backup', { task: 'backup-1' });
    expect(await cli.run(['backup', 'create', 'web-1'])).toMatchObject({ code: 2 });
    expect(await cli.json(['backup', 'create', 'web-1', '--target', 'offsite'])).toEqual([
      { target: 'vm/lab/default/web-1', status: 'backing up', task: 'backup-1' },
    ]);
    expect(changesSent().map(({ url, body }) => ({ url, body }))).toEqual([
      { url: '/api/ext/vms/default/web-1/backup?context=lab', body: { target: OFFSITE.id } },
    ]);
  });

  test('create needs no choice where there is one target', async () => {
    service.json('GET /api/ext/backups/targets', [NIGHTLY]);
    change('POST /api/ext/vms/default/web-1/backup', { task: 'backup-1' });
    expect((await cli.run(['backup', 'create', 'web-1'])).code).toBe(0);
    expect(changesSent()).toHaveLength(1);
  });

  test('restore creates a VM in the context of the original, or in another one', async () => {
    change(`POST ${POINTS}/${NEW.id}/restore`, { task: 'restore-1' });
    expect(await cli.json(['backup', 'restore', 'aaaaaab', 'web-2'])).toEqual([
      { target: 'web-2', status: 'restoring', task: 'restore-1' },
    ]);
    const line =
      'backup restore aaaaaab web-3 --on prod -n apps --map-network lan=pod --map-storage ssd=fast --keep-macs --instant';
    await cli.run(line.split(' '));
    expect(changesSent().map(({ body }) => body)).toEqual([
      { context: 'lab', name: 'web-2' },
      {
        context: 'prod',
        namespace: 'apps',
        name: 'web-3',
        mapping: { networks: { lan: 'pod' }, storageClasses: { ssd: 'fast' } },
        keepMacs: true,
        instant: true,
      },
    ]);
  });

  test('prove boots a backup, and shows why it refuses to', async () => {
    change(`POST ${POINTS}/${NEW.id}/prove`, { task: 'prove-1' });
    await cli.run(['backup', 'prove', 'aaaaaab', '--within', '60', '--quick']);
    expect(changesSent().map(({ body }) => body)).toEqual([{ context: 'lab', timeLimitSeconds: 60, readAll: false }]);
    const refusals = [{ code: 'NOT_SUPPORTED' as const, reason: 'The cluster boots no backups.', remedy: '' }];
    change(`POST ${POINTS}/${NEW.id}/prove`, {}, { ...PLAN, refusals });
    expect(await cli.run(['backup', 'prove', 'aaaaaab', '--on', 'prod', '--dry-run'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('The cluster boots no backups. (NOT_SUPPORTED)\n') as string,
    });
  });

  test('delete asks first, and deletes only that backup', async () => {
    change(`DELETE ${POINTS}/${NEW.id}`, { status: 'deleted' });
    expect((await cli.run(['backup', 'delete', 'aaaaaab'])).code).toBe(3);
    expect(changesSent()).toEqual([]);
    expect((await cli.run(['backup', 'delete', 'aaaaaab', '-y'])).code).toBe(0);
    expect(changesSent().map(({ method, url }) => `${method} ${url}`)).toEqual([`DELETE ${POINTS}/${NEW.id}`]);
  });

  test('a backup is not guessed', async () => {
    const ambiguous = await cli.run(['backup', 'delete', 'aaaaaa', '-y']);
    expect(ambiguous.code).toBe(5);
    expect(ambiguous.stderr).toContain(`${NEW.id} in nightly, ${OLD.id} in nightly. Use more of it, or --target.`);
    expect(await cli.run(['backup', 'delete', 'ffffff', '-y'])).toMatchObject({ code: 4 });
    for (const id of ['', 'aaaaa', 'latest', '../../vms', 'A'.repeat(8), 'a'.repeat(65)])
      expect([id, (await cli.run(['backup', 'delete', id, '-y'])).code]).toEqual([id, 2]);
    expect(changesSent()).toEqual([]);
  });
});
