import { rm } from 'node:fs/promises';
import type { Clock } from '@headgate/domain-contracts';
import type { NbdDisk } from './nbd-disk.js';
import { NbdServer, type ExportedDisk, type NbdServerOptions } from './nbd-server.js';

export interface MarkedDisk {
  /** Its `marked` are the parts that the options name. */
  readonly disk: NbdDisk;
  /** Ends the server, and removes its folder. */
  close(): Promise<void>;
}

/** Serves a disk for reads of any of its parts. @throws DomainError like `NbdServer.open` */
export async function openMarkedDisk(
  exported: ExportedDisk,
  marks: NonNullable<NbdServerOptions['marks']>,
  { clock, createTemporaryFolder }: { readonly clock: Clock; readonly createTemporaryFolder: () => Promise<string> },
  signal: AbortSignal,
): Promise<MarkedDisk> {
  const folder = await createTemporaryFolder();
  const server = NbdServer.start(exported, folder, { marks });
  const release = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const disk = await server.openDisk(clock, signal);
    return {
      disk,
      close: async () => {
        disk.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
