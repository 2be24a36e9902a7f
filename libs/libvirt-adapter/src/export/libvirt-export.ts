import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { DiskExport, DomainError, type ExportFormat, type InstanceRef } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { bootDisk, describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements } from '../xml/xml.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { expectOwnSession } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import { DiskStreams, type DiskStreamsDeps } from './disk-streams.js';
import type { ExportedDisk } from './nbd-server.js';

export interface LibvirtExportDeps extends DiskStreamsDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
}

/** Exports disks that are files or block devices of this machine. */
export class LibvirtExport extends DiskExport {
  private readonly streams: DiskStreams;

  constructor(private readonly deps: LibvirtExportDeps) {
    super();
    this.streams = new DiskStreams(deps);
  }

  override async check(ref: InstanceRef, format: ExportFormat): Promise<void> {
    await this.diskOf(ref);
    await this.streams.expectProgram(format);
  }

  override async open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
    return this.streams.open(await this.diskOf(ref), format, signal);
  }

  private async diskOf(ref: InstanceRef): Promise<ExportedDisk> {
    const { connection, finder } = this.deps;
    const { uuid } = await finder.find(ref);
    const domain = await connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
    if (domain.state.isActive)
      throw new DomainError(
        'WRONG_STATE',
        `${ref.name} runs: stop it before exporting its disk, or export it with a checkpoint.`,
      );
    const description = describeDomain(domain.xml);
    if (description.metadata.provisioning !== undefined) {
      throw new DomainError('WRONG_STATE', `The disk of ${ref.name} is still being filled.`);
    }
    if (isRemote(connection.uri)) throw notLocal();
    await expectOwnSession(connection.uri);
    const { path, format } = exportedDisk(description, ref.name);
    await expectReadable(path);
    return { path, format };
  }
}

export const notLocal = (): DomainError =>
  new DomainError('NOT_SUPPORTED', 'Disks of another machine are not exported: run the service there.');

/** The boot disk. @throws DomainError NOT_SUPPORTED */
export function exportedDisk(description: DomainDescription, name: string): ExportedDisk & { readonly target: string } {
  const disk = bootDisk(description);
  const format = disk && formatOf(description, disk.target);
  if (disk?.path === undefined || format === undefined) {
    throw new DomainError('NOT_SUPPORTED', `${name} has no boot disk that is a file or a block device.`);
  }
  return { path: disk.path, format, target: disk.target };
}

/** The format that libvirt has for a disk; raw when it names none. */
function formatOf({ document }: DomainDescription, target: string): string | undefined {
  const disk = elements(element(document, 'devices'), 'disk').find(
    (candidate) => attribute(element(candidate, 'target'), 'dev') === target,
  );
  return disk && (attribute(element(disk, 'driver'), 'type') ?? 'raw');
}

async function expectReadable(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new DomainError(
      isMissing ? 'VOLUME_NOT_FOUND' : 'BACKEND_FORBIDDEN',
      isMissing
        ? `The disk ${path} is missing: restore it, or delete the VM.`
        : `This service may not read the disk ${path}: run it as root, or grant its user access to the file.`,
      { cause: error },
    );
  }
}
