import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { StoragePool } from './storage-pool.js';

const GIB = 1024 ** 3;

describe('StoragePool', () => {
  test('accepts a file only if enough space stays free', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', '/images/headgate');
    libvirt.pools.get('headgate')!.availableBytes = 3 * GIB;
    const pool = new StoragePool(libvirt.connection(), 'headgate', '/images/headgate');
    await pool.checkSpace(2 * GIB, GIB);
    await expect(pool.checkSpace(2 * GIB + 1, GIB)).rejects.toMatchObject({
      code: 'INSUFFICIENT_STORAGE',
      message: expect.stringContaining('3Gi'),
    });
  });
});
