import { copySpace } from './copy-space.js';

const GIB = 1024 ** 3;
const disks = [
  { target: 'vda', path: '/pool/root.qcow2', format: 'qcow2', bus: 'virtio' },
  { target: 'vdb', path: '/dev/data', format: 'raw', bus: 'virtio' },
] as const;

describe('the space of copies', () => {
  const measured: string[] = [];
  const space = (since: string | undefined, changed?: number) =>
    copySpace('uuid', disks, since, {
      images: {
        copyBytes: async (path, format) => {
          measured.push(`${path} ${format}`);
          return GIB;
        },
      },
      checkpoints: { changedBytes: async () => changed },
    });
  beforeEach(() => void measured.splice(0));

  test('is that of all disks without a checkpoint, or if its record is lost', async () => {
    expect(await space(undefined, 5)).toEqual({ bytes: 2 * GIB, isIncrement: false });
    expect(await space('one', undefined)).toEqual({ bytes: 2 * GIB, isIncrement: false });
  });

  test('is that of the changes, and of disks whose changes are not recorded', async () => {
    expect(await space('one', 64 * 1024)).toEqual({ bytes: GIB + 64 * 1024, isIncrement: true });
    expect(measured).toEqual(['/dev/data raw']);
    expect(await space('one', 0)).toEqual({ bytes: GIB, isIncrement: true });
  });
});
