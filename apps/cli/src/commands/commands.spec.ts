import type { PlanView } from '@headgate/api-contracts';
import { FakeService } from '../testing/fake-service.js';
import { containerView, vmView } from '../testing/instances.js';
import { Cli } from '../testing/run-cli.js';

const PLAN: PlanView = { steps: [{ name: 'stop', detail: 'web-1' }], warnings: [], refusals: [] };

describe('headgate', () => {
  let service: FakeService;
  let cli: Cli;

  beforeEach(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
    service.json('GET /api/vms', [vmView()]).json('GET /api/cts', [containerView()]);
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  /** A route that answers with a plan to a dry run, and otherwise with a result. */
  const change = (route: string, result: unknown, plan: object = PLAN) =>
    service.on(route, (response, { url }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(url.includes('dryRun=true') ? plan : result));
    });
  const changesSent = () => service.lines.filter((line) => !line.startsWith('GET') && !line.includes('dryRun=true'));

  describe('list', () => {
    test('shows VMs and containers, and sends the words as one query', async () => {
      const { code, stdout } = await cli.run(['list', 'status:running', 'mem>8Gi', '--folder', 'prod']);
      expect(code).toBe(0);
      expect(stdout.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
        'NAME KIND NAMESPACE CONTEXT STATUS CPU MEMORY ADDRESS',
        'web-1 vm default lab Running 2 4Gi 192.0.2.7',
        'box-1 ct default lab Running 1 512Mi -',
        '',
      ]);
      const query = new URLSearchParams({ folder: 'prod', q: 'status:running mem>8Gi' });
      for (const { url } of service.requests)
        expect(Object.fromEntries(new URL(url, service.url).searchParams)).toEqual(Object.fromEntries(query));
    });

    test.each([
      ['json', (text: string) => expect(JSON.parse(text)).toEqual([vmView(), containerView()])],
      ['name', (text: string) => expect(text).toBe('vm/lab/default/web-1\nct/lab/default/box-1\n')],
      ['wide', (text: string) => expect(text).toMatch(/FOLDER +TAGS/)],
      ['yaml', (text: string) => expect(text).toMatch(/^- name: web-1\n/)],
    ])('prints %s', async (format, check) => {
      const { code, stdout } = await cli.run(['list', '-o', format]);
      expect(code).toBe(0);
      check(stdout);
    });

    test('says that a context is missing, and that nothing matches, on standard error', async () => {
      service.json('GET /api/vms', [], 200, { 'svc-partial': 'true' }).json('GET /api/cts', []);
      const { stdout, stderr } = await cli.run(['list']);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/Some contexts can not be reached.*\nNo VM or container matches\.\n/);
      expect((await cli.run(['list', '-o', 'json'])).stdout).toBe('[]\n');
    });

    test('neutralizes what a guest or an engine put into a name', async () => {
      service.json('GET /api/vms', [vmView({ name: 'a\x1b[2J\u202eb', status: 'x\ny' as never })]);
      const { stdout } = await cli.run(['list', '--kind', 'vm']);
      expect(stdout).toContain('a\\x1b[2J\\u{202e}b');
      expect(stdout).toContain('x\\x0ay');
      expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    });

    test('prints 10,000 instances', async () => {
      service.json(
        'GET /api/vms',
        Array.from({ length: 10_000 }, (_, index) => vmView({ name: `web-${index}` })),
      );
      const { code, stdout } = await cli.run(['list', '-k', 'vm']);
      expect(code).toBe(0);
      expect(stdout.split('\n')).toHaveLength(10_002);
    });
  });

  describe('an instance', () => {
    test.each(['web-1', 'default/web-1', 'vm/lab/default/web-1'])('is found as %s', async (name) => {
      expect(await cli.json(['get', name])).toMatchObject({ ref: 'vm/lab/default/web-1' });
    });

    test('is looked up by its exact name, whatever a query would match', async () => {
      service.json('GET /api/vms', [vmView({ name: 'web-10' })]).json('GET /api/cts', []);
      const outcome = await cli.run(['get', 'web-"1*\\']);
      expect(outcome).toMatchObject({ code: 4, stdout: '' });
      expect(outcome.stderr).toBe('headgate: There is no VM or container "web-"1*\\". (INSTANCE_NOT_FOUND)\n');
      expect(new URL(service.requests[0]!.url, service.url).searchParams.get('q')).toBe('name:"web-\\"1*\\\\"');
    });

    test('is not chosen among several of the same name', async () => {
      service.json('GET /api/cts', [containerView({ name: 'web-1' })]);
      const { code, stderr } = await cli.run(['stop', 'web-1', '--yes']);
      expect(code).toBe(5);
      expect(stderr).toContain('Use a ref: vm/lab/default/web-1, ct/lab/default/web-1.');
      expect(changesSent()).toEqual([]);
    });

    test('may have a name that begins with a dash, after "--"', async () => {
      service.json('GET /api/vms', [vmView({ name: '-rf' })]).json('GET /api/cts', []);
      const outcome = await cli.run(['get', '-o', 'name', '--', '-rf']);
      expect(outcome).toMatchObject({ code: 0, stdout: 'vm/lab/default/-rf\n' });
      expect(await cli.run(['get', '-rf'])).toMatchObject({ code: 2 });
    });

    test.each(['', '/', 'a/b/c', 'xx/lab/default/web-1', 'a//b'])('is not named by "%s"', async (name) => {
      expect(await cli.run(['get', name])).toMatchObject({ code: 2, stdout: '' });
      expect(service.requests).toEqual([]);
    });
  });

  describe('a change', () => {
    test('that interrupts is refused without a terminal and without --yes', async () => {
      change('POST /api/vms/default/web-1/stop', { status: 'ok' });
      const { code, stderr } = await cli.run(['stop', 'web-1']);
      expect(code).toBe(3);
      expect(stderr).toMatch(/^headgate: Stop web-1: .* --dry-run, and confirm it with --yes\. \(NOT_CONFIRMED\)\n$/);
      expect(changesSent()).toEqual([]);
    });

    test('that interrupts nothing needs no consent', async () => {
      change(
        'POST /api/vms/default/web-1/start',
        { status: 'ok' },
        { ...PLAN, steps: [{ name: 'start', detail: 'x' }] },
      );
      expect(await cli.json(['start', 'web-1'])).toEqual([{ target: 'vm/lab/default/web-1', status: 'ok' }]);
    });

    test('is carried out with --yes, in the context of the instance', async () => {
      change('POST /api/vms/default/web-1/stop', { status: 'ok' });
      expect((await cli.run(['shutdown', 'web-1', '--force', '-y'])).code).toBe(0);
      expect(changesSent()).toEqual(['POST /api/vms/default/web-1/stop?context=lab&force=true']);
    });

    test('shows its plan with --dry-run, and changes nothing', async () => {
      const interruption = { low: 8, high: 12, measured: 3 };
      change(
        'DELETE /api/vms/default/web-1',
        { status: 'deleted' },
        { ...PLAN, interruption, warnings: ['Careful.\x1b'] },
      );
      const { code, stdout } = await cli.run(['delete', 'web-1', '--dry-run']);
      expect(code).toBe(0);
      expect(stdout).toBe(
        'Delete web-1\n  - stop: web-1\n  interruption: the guest stops for 8 s to 12 s\n  warning: Careful.\\x1b\n',
      );
      expect(changesSent()).toEqual([]);
    });

    test.each([['--dry-run'], []])('that is refused by its plan ends with 3 (%s)', async (...flags) => {
      const refusals = [{ code: 'WRONG_STATE', reason: 'It is off.', remedy: 'Start it.' }];
      change('POST /api/vms/default/web-1/pause', { status: 'ok' }, { ...PLAN, refusals });
      const { code, stderr } = await cli.run(['pause', 'web-1', ...flags]);
      expect({ code, stderr }).toEqual({
        code: 3,
        stderr: 'headgate: Pause web-1: It is off. Start it. (WRONG_STATE)\n',
      });
      expect(changesSent()).toEqual([]);
    });

    test('of several instances goes on after one has failed, and reports each', async () => {
      service.json('GET /api/vms', [vmView(), vmView({ name: 'web-2' })]).json('GET /api/cts', []);
      service.json('POST /api/vms/default/web-1/stop', { error: 'It is busy.', code: 'BUSY' }, 409);
      change('POST /api/vms/default/web-2/stop', { status: 'ok' });
      const { code, stdout, stderr } = await cli.run(['stop', 'web-1', 'web-2', 'web-2', '-y', '-o', 'json']);
      expect(code).toBe(5);
      expect(JSON.parse(stdout)).toEqual([
        { target: 'vm/lab/default/web-1', status: 'error', error: 'It is busy.', code: 'BUSY' },
        { target: 'vm/lab/default/web-2', status: 'ok' },
      ]);
      expect(stderr).toContain('Stop web-1: It is busy. (BUSY)');
      expect(changesSent()).toHaveLength(2);
    });

    test('of a container that only VMs have is refused before a request', async () => {
      expect(await cli.run(['pause', 'box-1', '-y'])).toMatchObject({ code: 3 });
      expect(changesSent()).toEqual([]);
    });
  });

  test('create sends the fields of the options, and the warnings of the answer are shown', async () => {
    const created = { name: 'web-2', namespace: 'default', ref: 'vm/lab/default/web-2', warnings: ['No network.'] };
    change('POST /api/vms', created, { ...PLAN, steps: [] });
    const line = 'create vm web-2 --image debian-13 --cpu 2 --mem 4Gi --on lab --tag a --tag b --start --tpm';
    const { code, stdout, stderr } = await cli.run(line.split(' '));
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'web-2: No network.\n' });
    expect(stdout).toContain('created vm/lab/default/web-2');
    const fields = { name: 'web-2', image: 'debian-13', cpu: 2, mem: '4Gi', context: 'lab', start: true, tpm: true };
    expect(service.requests.at(-1)?.body).toEqual({ ...fields, tags: ['a', 'b'] });
  });

  test('move finds the kind of the destination, and shows the losses', async () => {
    const destinations = [{ context: 'prod', backend: 'kubevirt', can: true }];
    service.json('GET /api/move/destinations', { destinations });
    const losses = [{ what: 'The TPM.', category: 'tpm', severity: 'critical' }];
    service.json('POST /api/move/preflight', { ...PLAN, ok: true, losses, estimatedDowntimeSeconds: 130 });
    service.json('POST /api/move', { task: 'move-1', plan: {} });
    const { stdout } = await cli.run(['move', 'web-1', '--to', 'prod', '--map-network', 'lan=pod', '--dry-run']);
    expect(stdout).toContain('  interruption: the guest stops for about 2 min\n  loss: The TPM. (critical)\n');
    expect(await cli.json(['move', 'web-1', '--to', 'prod', '-y'])).toMatchObject([
      { status: 'moving', task: 'move-1' },
    ]);
    const base = { ref: 'vm/lab/default/web-1', toBackend: 'kubevirt', toContext: 'prod' };
    expect(service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      { ...base, mapping: { networks: { lan: 'pod' } } },
      base,
    ]);
    expect(await cli.run(['move', 'web-1', '--to', 'nowhere', '-y'])).toMatchObject({ code: 4 });
  });

  test('doctor ends with 1 if a check reports an error', async () => {
    const check = { name: 'api', context: 'lab', title: '', message: 'Down.', remedy: 'Start it.', fixable: false };
    const finding = { ...check, affected: [], affectedCount: 0 };
    service.json('GET /api/ext/doctor', [{ ...finding, status: 'error' }]);
    const { code, stdout } = await cli.run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/error +lab +api +Down\. Start it\.\n$/);
    service.json('GET /api/ext/doctor', [{ ...finding, status: 'warning' }]);
    expect((await cli.run(['doctor'])).code).toBe(0);
  });

  test('whoami shows the server and the rights', async () => {
    service.json('GET /api/whoami', { login: 'ann', name: 'Ann', admin: true, enforced: true, trust: 'users' });
    const { stdout } = await cli.run(['whoami']);
    expect(stdout).toBe(`Server: ${service.url}\nCaller: ann (Ann)\nRights: administrator\n`);
  });

  test.each([
    [['list', '--limit', '0'], /whole number/],
    [['list', '-o', 'xml'], /Allowed choices are table, wide, json, yaml, name/],
    [['frobnicate'], /unknown command/],
    [['list', '--timeout', 'soon'], /number of seconds/],
    [['create', 'ct', 'x'], /--image/],
    [['events'], /follow all changes with -f/],
    [['task'], /task list/],
    [['console', 'web-1', '--port', '1'], /for --vnc only/],
    [['console', 'web-1'], /needs a terminal/],
    [['help', 'nonsense'], /no command or topic/],
  ])('ends with 2 for %j, before any request', async (args, problem) => {
    const { code, stdout, stderr } = await cli.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(problem);
    expect(service.requests).toEqual([]);
  });

  test('shows logs with the codes of control characters, and the bytes with --raw', async () => {
    const text = 'one\r\n\x1b[31mtwo\x1b]0;evil\x07 é\n';
    service.on('GET /api/ext/cts/default/box-1/logs', (response) => {
      const bytes = Buffer.from(text);
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.write(bytes.subarray(0, -3));
      setImmediate(() => response.end(bytes.subarray(-3)));
    });
    expect((await cli.run(['logs', 'box-1'])).stdout).toBe('one\n\\x1b[31mtwo\\x1b]0;evil\\x07 é\n');
    expect((await cli.run(['logs', 'box-1', '--raw', '--tail', '5'])).stdout).toBe(text);
    expect(service.lines.at(-1)).toBe('GET /api/ext/cts/default/box-1/logs?context=lab&tail=5');
  });

  test('has help for each command and topic', async () => {
    const { code, stdout } = await cli.run(['--help']);
    expect(code).toBe(0);
    for (const command of ['list', 'apply', 'console', 'inventory'])
      expect(stdout).toMatch(new RegExp(`^  ${command}`, 'm'));
    expect((await cli.run(['help', 'snapshot', 'restore'])).stdout).toMatch(/^Usage: headgate snapshot\|?\S* restore/);
    expect((await cli.run(['help', 'exit-codes'])).stdout).toMatch(/^ {2}6 {2}The service, or the backend/m);
    expect((await cli.run(['--version'])).stdout).toBe('1.2.3\n');
  });
});
