import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDataDir } from './claim-data-dir.js';

describe('claimDataDir', () => {
  test('refuses a directory that another service uses, with the remedy', () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-claim-'));
    const first = claimDataDir(join(folder, 'data'));
    expect(() => claimDataDir(join(folder, 'data'))).toThrow(/another service uses this directory; .* --data-dir DIR$/);
    first.release();
    claimDataDir(join(folder, 'data')).release();
    rmSync(folder, { recursive: true });
  });
});
