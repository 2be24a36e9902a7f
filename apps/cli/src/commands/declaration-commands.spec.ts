import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeService } from '../testing/fake-service.js';
import { Cli } from '../testing/run-cli.js';

const ADD = { steps: [{ name: 'add tag x', detail: 'web-1' }], warnings: [], refusals: [] };
const RESTART = { ...ADD, steps: [{ name: 'restart', detail: 'Shut down web-1 and start it again.' }] };
const NOTHING = { ...ADD, steps: [] };

describe('apply and diff', () => {
  let service: FakeService;
  let cli: Cli;
  let file: string;

  beforeEach(async () => {
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
    file = join(cli.home, 'fleet.yaml');
    write(
      'kind: vm\nnamespace: default\nname: web-1\ntags: [x]\n---\nkind: ct\nnamespace: default\nname: box-1\ncontext: lab\ntags: []\n',
    );
    serve('/api/ext/vms/default/web-1', ADD, ['tags']);
    serve('/api/ext/cts/default/box-1', NOTHING, []);
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  const write = (text: string): void => writeFileSync(file, text);
  const serve = (path: string, plan: object, changed: string[]) =>
    service.on(`PATCH ${path}`, (response, { url }) => {
      const result = { status: 'ok', changed, effect: 'now', pending: [] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(url.includes('dryRun') ? plan : result));
    });
  const patches = () => service.lines.filter((line) => !line.includes('dryRun'));

  test('diff shows the plan of each document and changes nothing', async () => {
    const { code, stdout } = await cli.run(['diff', '-f', file]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Apply web-1\n  - add tag x: web-1\nApply box-1\n  nothing to do\n',
    });
    expect(patches()).toEqual([]);
    expect((await cli.run(['diff', '-f', file, '--exit-code'])).code).toBe(7);
    serve('/api/ext/vms/default/web-1', NOTHING, []);
    expect((await cli.run(['diff', '-f', file, '--exit-code'])).code).toBe(0);
  });

  test('apply sends the fields as they are declared, and reports the equal ones', async () => {
    expect(await cli.json(['apply', '-f', file])).toEqual([
      { target: 'vm/default/web-1', status: 'changed tags (now)' },
      { target: 'ct/lab/default/box-1', status: 'unchanged' },
    ]);
    expect(patches()).toEqual(['PATCH /api/ext/vms/default/web-1', 'PATCH /api/ext/cts/default/box-1?context=lab']);
    expect(service.requests.at(-1)?.body).toEqual({ tags: [] });
  });

  test('apply reads standard input', async () => {
    const { code } = await cli.run(['apply', '-f', '-'], {
      stdin: 'kind: vm\nnamespace: default\nname: web-1\ncpu: 4\n',
    });
    expect(code).toBe(0);
    expect(service.requests.at(-1)?.body).toEqual({ cpu: 4 });
  });

  test('apply asks before a restart, and waits for the next start with --no-restart', async () => {
    serve('/api/ext/vms/default/web-1', RESTART, ['size']);
    expect(await cli.run(['apply', '-f', file])).toMatchObject({ code: 3 });
    expect(patches()).toEqual([]);
    expect((await cli.run(['apply', '-f', file, '--yes', '--no-restart'])).code).toBe(0);
    expect(patches()[0]).toBe('PATCH /api/ext/vms/default/web-1?restart=false');
  });

  test('one document that is refused keeps all others from being applied, also with --yes', async () => {
    const refusals = [{ code: 'INVALID_QUANTITY', reason: 'mem: too much.', remedy: 'Use less.' }];
    serve('/api/ext/cts/default/box-1', { ...NOTHING, refusals }, []);
    for (const flags of [[], ['--yes']]) {
      const { code, stderr } = await cli.run(['apply', '-f', file, ...flags]);
      expect(code).toBe(3);
      expect(stderr).toContain('Apply box-1: mem: too much. Use less.');
    }
    service.json('PATCH /api/ext/cts/default/box-1', { error: 'tag is unknown.', code: 'INVALID_INPUT' }, 400);
    const { code, stderr } = await cli.run(['apply', '-f', file, '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}, document 2: tag is unknown. (INVALID_INPUT)`);
    expect(patches()).toEqual([]);
  });

  test.each([
    ['', /declares nothing/],
    ['a: [', /document 1: /],
    ['- a', /document 1: it must have fields/],
    ['kind: pod\nname: a\nnamespace: b', /document 1: kind must be vm or ct/],
    ['kind: vm\nname: 1\nnamespace: b', /document 1: name must be a text in quotes/],
    ['kind: vm\nname: a', /document 1: namespace must be a text/],
    ['kind: vm\nname: a\nnamespace: b\ncontext: [x]', /document 1: context must be a text/],
    [
      'kind: vm\nname: a\nnamespace: b\n---\nkind: vm\nname: a\nnamespace: b',
      /document 2: a is also declared in .*document 1/,
    ],
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]`,
      /document 1: .*alias/i,
    ],
  ])('refuses %j before any request', async (text, problem) => {
    write(text);
    const { code, stderr } = await cli.run(['apply', '-f', file, '--yes']);
    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
    expect(service.requests).toEqual([]);
  });

  test('refuses a file that does not exist', async () => {
    expect(await cli.run(['diff', '-f', '/none.yaml'])).toMatchObject({
      code: 2,
      stderr: 'headgate: /none.yaml can not be read (ENOENT).\n',
    });
  });
});
