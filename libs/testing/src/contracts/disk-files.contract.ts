import { randomUUID } from 'node:crypto';
import type { Backend, DiskFiles, FilesSpec, OpenedFiles, ProofDisk } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

/** The rules for every `DiskFiles`. File systems with files are in the tests of the adapters. */
export function diskFilesContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`DiskFiles, ${adapter}`, () => {
    let harness: BackendHarness;
    let files: DiskFiles;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const never = new AbortController().signal;

    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      files = harness.backend.require('diskFiles');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const disksOf = async (): Promise<readonly ProofDisk[]> => {
      const { ref } = await createdVm(harness, recorder);
      const { disks, close } = await harness.backend.require('backupSource').open(ref, { series: 'files' }, never);
      afterTest(() => close({ keep: false }));
      return disks;
    };
    const specOf = (disks: readonly ProofDisk[]): FilesSpec => ({ id: randomUUID(), disks });
    const opened = async (spec: FilesSpec): Promise<OpenedFiles> => {
      const found = await files.open(spec, never);
      afterTest(() => found.close());
      return found;
    };

    inTime('plans a session, and refuses one without disks', async () => {
      expect((await files.plan({ id: randomUUID(), diskCount: 1 })).refusals).toEqual([]);
      const { refusals } = await files.plan({ id: randomUUID(), diskCount: 0 });
      expect(refusals).toEqual([expect.objectContaining({ code: 'NOT_SUPPORTED' })]);
      await expect(files.open(specOf([]), never)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    });

    inTime('reports a disk without a file system, refuses paths upwards, and shows no VM', async () => {
      const disks = await disksOf();
      const session = await opened(specOf(disks));
      expect(session.volumes).toEqual([
        expect.objectContaining({ number: 0, disk: disks[0]?.name, problem: expect.stringMatching(/\.$/) }),
      ]);
      const range = { skip: 0, limit: 10 };
      await expect(session.list(0, '/', range)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      await expect(session.read(0, '/x', never)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      await expect(session.archive(0, '/', never)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      await expect(session.list(7, '/', range)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
      await expect(session.list(0, '/../etc', range)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      expect([...recorder.instances.keys()].filter((ref) => ref.includes('headgate-files'))).toEqual([]);
      await session.close();
      await session.close();
      await session.ended;
      await expect(session.list(0, '/', range)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
      expect(recorder.calls.filter((call) => call.includes('headgate-files'))).toEqual([]);
    });

    inTime('opens nothing for a caller that has left', async () => {
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(files.open(specOf(await disksOf()), gone)).rejects.toThrow('gone');
    });

    inTime('reports a backend that does not answer', async () => {
      const away = unreachable.require('diskFiles').plan({ id: randomUUID(), diskCount: 1 });
      await expect(away).rejects.toMatchObject({ code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/) });
    });
  });
}
