import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { VmView } from '@headgate/api-contracts';
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { Api } from './api.js';
import { openBrowser } from './browser.js';
import { CHROMIUM, describeIf, PYTHON_CLIENT } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const CLIENTS = join(import.meta.dirname, '../clients');
const COMPILER = join(root, 'node_modules/typescript-native/bin/tsc');
const COMPILE_OPTIONS = '--strict --target es2023 --module nodenext --noUncheckedIndexedAccess --types node'.split(' ');
const MAX_RUN_MS = 360_000;

/** The output of a client. */
interface Result {
  readonly vms: number;
  readonly started: string;
  readonly outcome: string;
  readonly task: string;
  readonly member: string;
  readonly expected: string;
  readonly code: string;
}

/** A program of another environment, which must not get the options of this one. */
async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const { stdout } = await run(program, [...args], { cwd, env, timeout: MAX_RUN_MS }).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} failed:\n${stdout}${stderr}`, { cause: error });
  });
  return stdout;
}

describe('the API document of a running service', () => {
  let service: RunningService;
  let api: Api;
  let folder: string;
  let text: string;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=200']);
    api = new Api(service.url);
    text = await (await fetch(`${service.url}/api/ext/openapi.json`)).text();
  }, 600_000);
  afterAll(() => service?.stop());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-client-'));
    writeFileSync(join(folder, 'openapi.json'), text);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const expectStarted = async (result: Result): Promise<void> => {
    expect(result).toEqual({
      ...result,
      // The clients ask for one page.
      vms: 100,
      outcome: 'ok',
      task: 'done',
      member: result.expected,
      code: 'TASK_NOT_FOUND',
    });
    await until(
      'both VMs are started',
      async () =>
        (await api.send<VmView[]>('GET', '/api/vms')).body
          .filter(({ ref }) => [result.started, result.expected].includes(ref))
          .map(({ status }) => status),
      (statuses) => statuses.length === 2 && !statuses.includes('Stopped'),
    );
  };

  test('is the source of a TypeScript client that compiles and works', async () => {
    const types = astToString(await openapiTypescript(JSON.parse(text) as OpenAPI3));
    writeFileSync(join(folder, 'api.ts'), types);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    cpSync(join(CLIENTS, 'client.ts'), join(folder, 'client.ts'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    await output(process.execPath, [COMPILER, ...COMPILE_OPTIONS, 'client.ts'], folder);
    await expectStarted(JSON.parse(await output(process.execPath, ['client.js', service.url], folder)) as Result);
  });

  describeIf(PYTHON_CLIENT ? undefined : 'python-client is not installed', 'in Python', () => {
    test('is the source of a client that works', async () => {
      // The generator knows none of these types, whose bytes are like those of other files.
      const binary = ['image/png', 'application/x-ndjson', 'application/x-tar'].map((type) => [
        type,
        'application/octet-stream',
      ]);
      const config = { post_hooks: [], content_type_overrides: Object.fromEntries(binary) as Record<string, string> };
      writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
      const target = ['--meta', 'none', '--output-path', 'headgate_client', '--config', 'config.json'];
      const generator = ['-m', 'openapi_python_client', 'generate', '--fail-on-warning', '--path', 'openapi.json'];
      await output(PYTHON_CLIENT ?? '', [...generator, ...target], folder);
      await output(PYTHON_CLIENT ?? '', ['-m', 'compileall', '-q', 'headgate_client'], folder);
      cpSync(join(CLIENTS, 'client.py'), join(folder, 'client.py'));
      await expectStarted(JSON.parse(await output(PYTHON_CLIENT ?? '', ['client.py', service.url], folder)) as Result);
    });
  });

  describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'as a page', () => {
    test('loads without a request to another place and without an error', async () => {
      const { page, foreign, errors, close } = await openBrowser(`${service.url}/api/ext/docs`);
      try {
        const requested: string[] = [];
        page.on('request', (request) => requested.push(request.url()));
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(message.text());
        });
        await page.reload();
        expect(await page.title()).toBe('Headgate VM service API');
        const operation = page.locator('[id="Vms.create"]');
        await operation.locator('summary').click();
        await operation.getByRole('link', { name: 'CreateVmDto' }).click();
        expect(new URL(page.url()).hash).toBe('#schema-CreateVmDto');
        expect(requested).toEqual([`${service.url}/api/ext/docs`]);
        expect([foreign, errors]).toEqual([[], []]);
        // The policy lets the page have its own style, and nothing else.
        expect(await page.evaluate(() => getComputedStyle(document.body).maxWidth)).not.toBe('none');
      } finally {
        await close();
      }
    });
  });
});
