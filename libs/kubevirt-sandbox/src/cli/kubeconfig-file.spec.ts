import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { KubeconfigFile } from './kubeconfig-file.js';

describe('KubeconfigFile', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubeconfig-spec-'));
    path = join(folder, 'config');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is readable by its owner only, and is removed at the end', () => {
    const file = KubeconfigFile.write(path, 'kind: Config\n');
    expect(readFileSync(path, 'utf8')).toMatch(/^# .*\nkind: Config\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    file.remove();
    expect(existsSync(path)).toBe(false);
  });

  test('is in a folder of its own without a given path, and is removed together with it', () => {
    const file = KubeconfigFile.write(undefined, 'kind: Config\n');
    expect(existsSync(file.path)).toBe(true);
    file.remove();
    expect(existsSync(dirname(file.path))).toBe(false);
  });

  test('replaces a file that another sandbox left behind', () => {
    const older = KubeconfigFile.write(path, 'one');
    KubeconfigFile.write(path, 'two');
    older.remove();
    expect(readFileSync(path, 'utf8')).toMatch(/two$/);
  });

  test("never replaces the user's own kubeconfig", () => {
    writeFileSync(path, 'mine');
    expect(() => KubeconfigFile.write(path, 'sandbox')).toThrow(/exists and was not written by a sandbox/);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  test('reports a path that cannot be written', () => {
    expect(() => KubeconfigFile.write(join(folder, 'absent', 'config'), '')).toThrow(/can not be written: ENOENT/);
  });
});
