import { rm } from 'node:fs/promises';
import { DomainError, type DiskWriter } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { NbdServer, type ExportedDisk } from '../export/nbd-server.js';
import { expectOwnSession } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import { runProgram, type RunProgram } from '../programs/run-program.js';
import type { OpenDiskDeps } from './libvirt-disk-source.js';

export interface FillDeps extends OpenDiskDeps {
  readonly connection: LibvirtConnection;
  readonly run?: RunProgram;
}

const PROBE_TIMEOUT_MS = 10_000;

/** @throws DomainError NOT_SUPPORTED if this process can't write disks of this libvirt, BACKEND_UNREACHABLE */
export async function expectFillable({ connection, users, run = runProgram }: FillDeps): Promise<void> {
  await connection.host.hostname();
  if (isRemote(connection.uri))
    throw new DomainError('NOT_SUPPORTED', 'Disks of another machine are not written: run the service there.');
  await expectOwnSession(connection.uri, users);
  const { missing } = await run('qemu-nbd', ['--version'], { timeoutMs: PROBE_TIMEOUT_MS });
  if (missing) throw new DomainError('NOT_SUPPORTED', 'qemu-nbd is not installed: install the package qemu-utils.');
}

/** Opens a blank disk to write its content. No other program can use it until the writer has ended. */
export async function openFilling(
  disk: ExportedDisk,
  { clock, createTemporaryFolder }: OpenDiskDeps,
  signal: AbortSignal,
): Promise<DiskWriter> {
  signal.throwIfAborted();
  const folder = await createTemporaryFolder();
  const server = NbdServer.start(disk, folder, { access: 'write' });
  const release = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const writer = await server.openWriter(clock, signal);
    return {
      write: (offset, data) => {
        signal.throwIfAborted();
        return writer.write(offset, data);
      },
      finish: async () => {
        await writer.flush();
        writer.close();
        await server.whenEnded();
        await release();
      },
      abort: async () => {
        writer.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
