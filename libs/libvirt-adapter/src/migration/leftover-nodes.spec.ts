import { DomainError } from '@headgate/domain-contracts';
import type { BlockOperations } from '../connection/block-operations.js';
import { withoutLeftoverNodes } from './leftover-nodes.js';

const ID = { uuid: '2c749204-8322-4dfd-b324-cb2e556e0e9a', name: 'web' };
const TAKEN = new DomainError(
  'BACKEND_FAILED',
  "libvirt: internal error: unable to execute QEMU command 'blockdev-add': Duplicate nodes with node-name='migration-vda-storage'",
);

function guest(failures: readonly Error[], refusal?: Error) {
  const calls: string[] = [];
  const left = [...failures];
  const blocks = {
    nodes: async () => ['migration-vda-storage', 'migration-vda-format', 'libvirt-1-format', '#block027'],
    removeNode: async (_uuid: string, name: string) => {
      calls.push(`remove ${name}`);
      if (refusal) throw refusal;
    },
  } as unknown as BlockOperations;
  const migrate = async (): Promise<void> => {
    calls.push('migrate');
    const failure = left.shift();
    if (failure) throw failure;
  };
  return { calls, run: () => withoutLeftoverNodes(ID, { blocks }, migrate) };
}

describe('withoutLeftoverNodes', () => {
  test('removes the nodes of an interrupted migration, the outer one first, and migrates again', async () => {
    const { calls, run } = guest([TAKEN]);
    await run();
    expect(calls).toEqual(['migrate', 'remove migration-vda-format', 'remove migration-vda-storage', 'migrate']);
  });

  test('says what to do if QEMU does not give a node up', async () => {
    const { run } = guest([TAKEN], new DomainError('BACKEND_FAILED', 'QEMU: Node migration-vda-format is in use'));
    await expect(run()).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(/is in use\): stop web and start it again, then migrate it\.$/),
    });
  });

  test('tries it a second time only', async () => {
    const { calls, run } = guest([TAKEN, TAKEN]);
    await expect(run()).rejects.toBe(TAKEN);
    expect(calls.filter((call) => call === 'migrate')).toHaveLength(2);
  });

  test('leaves the guest alone after any other failure', async () => {
    const failure = new DomainError('BACKEND_FAILED', 'libvirt: operation failed: domain is not running');
    const { calls, run } = guest([failure]);
    await expect(run()).rejects.toBe(failure);
    expect(calls).toEqual(['migrate']);
  });
});
