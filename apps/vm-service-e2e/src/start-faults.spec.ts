import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

/** The first start builds the service. */
const FIRST_START_TIMEOUT_MS = 600_000;

describe('npm start', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-faults-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  /** The last line of its output: one sentence for the user. */
  const complaintOf = async (...args: string[]): Promise<string> => {
    const { code, said } = await RunningService.runToEnd(args);
    expect(code).toBe(1);
    expect(said).not.toMatch(/\n\s+at /);
    return said.trim().split('\n').at(-1) ?? '';
  };

  test(
    'names the address that is in use',
    async () => {
      const squatter = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => squatter.once('listening', resolve));
      const listen = `127.0.0.1:${(squatter.address() as AddressInfo).port}`;
      expect(await complaintOf('--sandbox=0', '--listen', listen)).toBe(
        `${listen} is in use by another program; choose another with --listen HOST:PORT.`,
      );
      squatter.close();
    },
    FIRST_START_TIMEOUT_MS,
  );

  test.each([
    ['a file that does not exist', 'none.yaml', undefined, /none\.yaml: the file can't be read \(ENOENT\)$/],
    ['a file that is not YAML', 'broken.yaml', 'contexts: [', /broken\.yaml: it is not YAML: /],
    ['a key that does not exist', 'key.yaml', 'lissen: 127.0.0.1:1', /key\.yaml: lissen is not a known key$/],
    [
      'an invalid value',
      'value.yaml',
      'contexts: [{ name: a, kind: proxmox }]',
      /value\.yaml: contexts\[0\]\.kind must be kubevirt, libvirt, incus or sandbox$/,
    ],
  ])('refuses a configuration with %s and names it', async (_what, name, text, sentence) => {
    const path = text === undefined ? join(folder, name) : file(name, text);
    expect(await complaintOf('--config', path)).toMatch(sentence);
  });

  test('refuses an unknown option', async () => {
    expect(await complaintOf('--nope')).toMatch(/^the command line: Unknown option '--nope'/);
  });

  test('refuses a file that is not a registry and leaves it as it is', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'headgate-faults-'));
    writeFileSync(join(dataDir, 'registry.db'), 'this file belongs to another program and is long enough to be read');
    await expect(RunningService.start(['--sandbox=0'], { dataDir })).rejects.toThrow(
      /registry\.db can't be used as the registry/,
    );
    rmSync(dataDir, { recursive: true });
  });

  test('refuses a data directory that another service uses, and leaves that one alone', async () => {
    const first = await RunningService.start(['--sandbox=3']);
    const { code, said } = await RunningService.runToEnd(['--sandbox=0'], first.dataDir);
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/another service uses this directory; .* --data-dir DIR\n$/),
    ]);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.stop();
  });

  test('ends when npm receives SIGTERM', async () => {
    const service = await RunningService.startWithNpm(['--sandbox=0']);
    expect(processesWith(service.dataDir)).not.toEqual([]);
    await service.terminate();
    await until(
      'every process of the service has ended',
      async () => processesWith(service.dataDir),
      (left) => left.length === 0,
    );
    service.forget();
  });
});
