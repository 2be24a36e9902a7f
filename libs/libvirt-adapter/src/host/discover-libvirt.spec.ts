import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discoverLibvirt } from './discover-libvirt.js';

test('finds libvirt by either of its sockets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-discover-'));
  const [monolithic, modular] = [join(folder, 'libvirt-sock'), join(folder, 'virtqemud-sock')];
  try {
    expect(await discoverLibvirt([monolithic, modular])).toBeUndefined();
    writeFileSync(modular, '');
    expect(await discoverLibvirt([monolithic, modular])).toEqual({
      context: 'local',
      description: 'libvirt on this machine',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
