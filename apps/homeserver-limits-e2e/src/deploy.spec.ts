import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';

const FOLDER = resolve(import.meta.dirname, '../../../deploy/homeserver-limits');
const UNIT = 'headgate-homeserver-limits.service';
const run = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8', cwd: FOLDER });
const isInstalled = (program: string, ...args: string[]) => run(program, ...args).status === 0;
const file = (name: string) => readFile(join(FOLDER, name), 'utf8');

/** `test`, or a skipped one whose title gives the reason. */
const testWith = (program: string, args: string[], title: string, work: () => Promise<void>) =>
  isInstalled(program, ...args) ? test(title, work) : test.skip(`${title}: ${program} is not installed`, work);

describe('the files for a deployment', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'limits-deploy-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A configuration of the folder, for an upstream and listeners that exist here. */
  const adapted = (toml: string) =>
    toml
      .replace(/^listen = .*$/m, 'listen = "127.0.0.1:0"')
      .replace('CHANGE-ME', 'a-token-for-this-test-only')
      .replace(/^upstream = .*$/m, 'upstream = "http://127.0.0.1:9"');

  test.each(['limits.toml', 'kustomize/limits.toml'])('%s starts a gateway that refuses nothing yet', async (name) => {
    const limits = await LimitsProcess.start(adapted(await file(name)));
    try {
      const token = 'a-token-for-this-test-only';
      const { body } = await call(limits.operatorUrl, 'GET', '/rules', { token });
      expect(body.rates.length).toBeGreaterThanOrEqual(6);
      for (const probe of ['/healthz', '/readyz'])
        expect((await call(limits.operatorUrl, 'GET', probe)).status).toBe(200);
      expect((await call(limits.url, 'GET', '/_matrix/client/versions')).status).toBe(502);
    } finally {
      await limits.dispose();
    }
  });

  test('the configuration for a cluster does not start before its token is chosen', async () => {
    const toml = (await file('kustomize/limits.toml')).replace(/^listen = .*$/m, 'listen = "127.0.0.1:0"');
    await expect(LimitsProcess.start(toml)).rejects.toThrow('operator.token must be at least 16 characters');
  });

  test('the image needs nothing but the built folder', async () => {
    const containerfile = await file('Containerfile');
    const [, from] = /COPY --from=build \/src\/(\S+) /.exec(containerfile) ?? [];
    const [, command = '[]'] = /^ENTRYPOINT (.+)$/m.exec(containerfile) ?? [];
    const [program, ...args] = JSON.parse(command) as string[];
    expect([program, args.at(-1)]).toEqual(['node', `${from}/main.js`]);
    // Node knows its options, which come before the program.
    const options = args.slice(0, -1);
    expect(spawnSync(process.execPath, [...options, '--version']).status).toBe(0);
    await cp(resolve(import.meta.dirname, '../../..', from!), folder, { recursive: true });
    const help = spawnSync(process.execPath, [join(folder, 'main.js'), '--help'], { encoding: 'utf8', cwd: folder });
    expect([help.status, help.stdout]).toEqual([0, expect.stringContaining('--data-dir')]);
    // Warnings would mean that Node has to guess the kind of the modules, and compiles them twice.
    expect(help.stderr).toBe('');
  });

  testWith('systemd-analyze', ['--version'], 'the unit is valid for systemd', async () => {
    const unit = await file(UNIT);
    expect(unit).toContain('/apps/homeserver-limits/dist/main.js');
    const path = join(folder, UNIT);
    await writeFile(path, unit.replace('/opt/headgate/bin/node', process.execPath));
    const { status, stderr } = run('systemd-analyze', 'verify', '--man=no', path);
    expect([status, stderr.split('\n').filter((line) => line.includes(UNIT))]).toEqual([0, []]);
  });

  testWith('kubectl', ['version', '--client'], 'the manifests are valid for kustomize', async () => {
    const { status, stdout, stderr } = run('kubectl', 'kustomize', 'kustomize');
    expect([status, stderr]).toEqual([0, '']);
    const kinds = [...stdout.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind).sort();
    expect(kinds).toEqual(['Namespace', 'NetworkPolicy', 'Secret', 'Service', 'StatefulSet']);
    // The name of the generated secret has a hash, and the volume follows it.
    const [, secret] = /^ {2}name: (homeserver-limits-\w+)$/m.exec(stdout) ?? [];
    expect(stdout).toContain(`secretName: ${secret}`);
    for (const probe of ['/healthz', '/readyz']) expect(stdout).toContain(`path: ${probe}`);
    // Every file of the folder is used.
    const listed = await file('kustomize/kustomization.yaml');
    for (const name of await readdir(join(FOLDER, 'kustomize'))) {
      if (name !== 'kustomization.yaml') expect(listed).toContain(`- ${name}\n`);
    }
  });

  testWith('promtool', ['--version'], 'the alert rules are valid, and fire when they should', async () => {
    for (const args of [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ]) {
      const { status, stdout, stderr } = run('promtool', ...args);
      expect([args, status, status === 0 ? '' : stdout + stderr]).toEqual([args, 0, '']);
    }
  });

  test('the dashboard and the alert rules use series that exist', async () => {
    const limits = await LimitsProcess.start('[gateway]\nupstream = "http://127.0.0.1:9"\n');
    try {
      const exposed = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
      const dashboard = JSON.parse(await file('grafana-dashboard.json')) as {
        panels: { id: number; title: string; targets: { expr: string }[] }[];
      };
      const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
      expressions.push(...(await file('alerts.yaml')).split('\n').filter((line) => /limits_/.test(line)));
      const named = new Set(expressions.flatMap((expr) => expr.match(/\b(?:limits|process|nodejs)_\w+/g) ?? []));
      expect(named.size).toBeGreaterThan(12);
      // This one exists with [shared] only.
      named.delete('limits_windows_are_shared');
      for (const name of named) expect(exposed).toMatch(new RegExp(`^${name}[ {]`, 'm'));
      expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    } finally {
      await limits.dispose();
    }
  });
});
