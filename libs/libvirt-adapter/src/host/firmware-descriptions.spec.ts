import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasEnrolledFirmware } from './firmware-descriptions.js';

describe('hasEnrolledFirmware', () => {
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-firmware-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const firmware = (...features: string[]): string =>
    JSON.stringify({ 'interface-types': ['uefi'], features, targets: [{ architecture: 'x86_64' }] });

  test('requires keys besides Secure Boot, for the same architecture', async () => {
    const find = (arch = 'x86_64') => hasEnrolledFirmware(arch, [join(folder, 'none'), folder]);
    await writeFile(join(folder, '50-secure.json'), firmware('secure-boot', 'requires-smm'));
    await writeFile(join(folder, '90-damaged.json'), '{');
    expect(await find()).toBe(false);
    await writeFile(join(folder, '40-enrolled.json'), firmware('secure-boot', 'enrolled-keys'));
    expect(await find()).toBe(true);
    expect(await find('aarch64')).toBe(false);
  });
});
