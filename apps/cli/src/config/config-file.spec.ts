import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigFile } from './config-file.js';

describe('ConfigFile', () => {
  let folder: string;
  let file: ConfigFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-config-'));
    file = ConfigFile.of({}, folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string, mode = 0o600): void => {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, text, { mode });
    chmodSync(file.path, mode);
  };

  test('is below the folder of the configuration, or where the environment says', () => {
    expect(file.path).toBe(join(folder, '.config/headgate/config.yaml'));
    expect(ConfigFile.of({ XDG_CONFIG_HOME: '/x' }, folder).path).toBe('/x/headgate/config.yaml');
    expect(ConfigFile.of({ HEADGATE_CONFIG: '/y.yaml' }, folder).path).toBe('/y.yaml');
  });

  test('has no contexts before it exists', async () => {
    expect(await file.read()).toEqual({ contexts: {} });
  });

  test('is written for its user only, and as a whole', async () => {
    const context = { server: 'https://vms.example.org', token: 'hgt_x' };
    await file.change(() => ({ current: 'a', contexts: { a: context } }));
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file.path)).mode & 0o777).toBe(0o700);
    expect(await file.read()).toEqual({ current: 'a', contexts: { a: context } });
    expect(readdirSync(dirname(file.path)).sort()).toEqual(['config.yaml', 'config.yaml.lock']);
  });

  test.each([0o640, 0o604, 0o660, 0o602])('is refused with the remedy if others have rights (%o)', async (mode) => {
    write('contexts: {}\n', mode);
    await expect(file.read()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`chmod 600 ${file.path}`),
    });
    await expect(file.change((config) => config)).rejects.toMatchObject({ exitCode: 3 });
    expect(readFileSync(file.path, 'utf8')).toBe('contexts: {}\n');
  });

  test('stays as it was if a change fails', async () => {
    write('contexts: {}\n');
    await expect(
      file.change(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow();
    expect(readFileSync(file.path, 'utf8')).toBe('contexts: {}\n');
  });

  test('stays behind a link', async () => {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(join(folder, 'mine.yaml'), '', { mode: 0o600 });
    symlinkSync(join(folder, 'mine.yaml'), file.path);
    await file.change(() => ({ contexts: { a: { server: 'https://a' } } }));
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toContain('https://a');
  });

  test.each([
    ['contexts: [', /is not valid YAML/],
    ['[]', /the file must have fields/],
    ['contexts: 1', /contexts must have fields/],
    ['context: {}', /must not have "context", only current, contexts/],
    ['contexts: {a: {server: 1}}', /contexts\.a\.server must be a string/],
    ['contexts: {a: {}}', /contexts\.a\.server is missing/],
    ['contexts: {a: {server: https://a, tokn: x}}', /contexts\.a must not have "tokn"/],
    ['contexts: {a: {server: https://a, insecureHttp: "yes"}}', /insecureHttp must be a boolean/],
    ['contexts: {"../x": {server: https://a}}', /The name of a context/],
    ['a: &a [x]\nb: *a', /is not valid YAML|must not have/],
  ])('names the problem of %j', async (text, problem) => {
    write(text);
    await expect(file.read()).rejects.toThrow(problem);
  });
});
