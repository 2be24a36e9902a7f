import { join } from 'node:path';
import { DomainError, type BackupDisk } from '@headgate/domain-contracts';
import { servedBitmap, type BackedUpDisk, type DiskBackup } from '../connection/backup-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainId } from '../domains/domain-finder.js';
import { NbdConnection } from '../export/nbd-connection.js';
import { NbdDisk } from '../export/nbd-disk.js';
import { explainStop } from './explain-stop.js';
import { MomentDisks, type MomentOptions } from './moment-disks.js';
import type { SocketFolder } from './socket-folder.js';
import { withoutZeros } from './zero-parts.js';

const BYTES_OF_ZEROS = 2;

/**
 * Reads the disks from QEMU itself, which keeps the content that the guest replaces meanwhile. Not for disks with an
 * I/O thread: QEMU 7.2 crashes when their readers leave before its server has ended.
 */
export class ServedDisks extends MomentDisks {
  private readonly opened: NbdDisk[] = [];

  constructor(
    private readonly id: DomainId,
    private readonly connection: LibvirtConnection,
    private readonly server: { readonly folder: SocketFolder; readonly socket: string },
  ) {
    super();
  }

  override async begin(backup: DiskBackup): Promise<void> {
    const { folder, socket } = this.server;
    await this.connection.backups.serveBackup(this.id.uuid, { ...backup, socket: join(folder.path, socket) });
  }

  override async open({ disks }: DiskBackup, { isIncrement, signal }: MomentOptions): Promise<readonly BackupDisk[]> {
    const found: BackupDisk[] = [];
    for (const disk of disks) {
      signal.throwIfAborted();
      found.push(await this.openOne(disk, isIncrement && disk.hasBitmaps));
    }
    return found;
  }

  override async close(): Promise<void> {
    for (const disk of this.opened) disk.close();
    await this.server.folder.release();
  }

  private async openOne({ target }: BackedUpDisk, isIncrement: boolean): Promise<BackupDisk> {
    const disk = await this.connect(target, isIncrement);
    this.opened.push(disk);
    const marked = await disk.marked(isIncrement ? undefined : BYTES_OF_ZEROS);
    const read = (offset: number, length: number): Promise<Buffer> =>
      disk.read(offset, length).catch((error: unknown) => explainStop(this.id, this.connection, error));
    return {
      name: target,
      sizeBytes: disk.sizeBytes,
      changed: isIncrement ? marked : 'all',
      read: isIncrement ? read : withoutZeros(marked, read),
    };
  }

  private async connect(target: string, isIncrement: boolean): Promise<NbdDisk> {
    const { folder, socket } = this.server;
    const connection = await NbdConnection.open(folder.path, socket);
    if (!connection)
      throw new DomainError('BACKEND_FAILED', `QEMU does not serve the disk ${target} for the backup: see its log.`);
    const context = isIncrement ? `qemu:dirty-bitmap:${servedBitmap(target)}` : 'base:allocation';
    return NbdDisk.open(connection, target, context, { staysConnected: true }).catch((error: unknown) => {
      connection.socket.destroy();
      throw error;
    });
  }
}
