import { constants, createReadStream } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { constants as zlib, createGzip } from 'node:zlib';
import {
  DiskExport,
  DomainError,
  releaseOnDestroy,
  type Clock,
  type ExportFormat,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { bootDisk, describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements } from '../domain-xml/xml.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import { runProgram, type RunProgram } from '../virsh/run-program.js';
import { translateFailure } from '../virsh/virsh-errors.js';
import { NbdServer, type ExportedDisk } from './nbd-server.js';

export interface LibvirtExportDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly clock: Clock;
  /** Creates a private folder; this class removes it. */
  readonly createTemporaryFolder: () => Promise<string>;
  readonly run?: RunProgram;
}

const PROBE_TIMEOUT_MS = 10_000;
const CONVERT_TIMEOUT_MS = 6 * 60 * 60_000;
const CONVERT_LIMITS = { addressSpaceBytes: 4 * 1024 ** 3, cpuSeconds: 6 * 60 * 60 };
const GZIP_OUTPUT_BYTES = 256 * 1024;
const PROGRAMS: Readonly<Record<ExportFormat, string>> = { 'raw.gz': 'qemu-nbd', qcow2: 'qemu-img' };

/** Exports disks that are files or block devices of this machine. */
export class LibvirtExport extends DiskExport {
  constructor(private readonly deps: LibvirtExportDeps) {
    super();
  }

  override async check(ref: InstanceRef, format: ExportFormat): Promise<void> {
    await this.diskOf(ref);
    await this.expectProgram(PROGRAMS[format]);
  }

  override async open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
    const disk = await this.diskOf(ref);
    signal.throwIfAborted();
    const folder = await this.deps.createTemporaryFolder();
    const removeFolder = () => rm(folder, { recursive: true, force: true });
    try {
      return format === 'qcow2'
        ? releaseOnDestroy(await this.convert(disk, folder, signal), removeFolder)
        : await this.compress(disk, folder, signal, removeFolder);
    } catch (error) {
      await removeFolder();
      throw error;
    }
  }

  private async compress(
    disk: ExportedDisk,
    folder: string,
    signal: AbortSignal,
    removeFolder: () => Promise<void>,
  ): Promise<Readable> {
    const server = NbdServer.start(disk, folder);
    try {
      const reader = await server.open(this.deps.clock, signal);
      const gzip = createGzip({ level: zlib.Z_BEST_SPEED, chunkSize: GZIP_OUTPUT_BYTES });
      // The reader of the returned stream receives its error.
      pipeline(reader, gzip, () => undefined);
      return releaseOnDestroy(gzip, async () => {
        reader.destroy();
        await server.stop();
        await removeFolder();
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** A qcow2 image can't be written to a stream, because its tables are written last and read first. */
  private async convert({ path, format }: ExportedDisk, folder: string, signal: AbortSignal): Promise<Readable> {
    const target = join(folder, 'export.qcow2');
    const result = await (this.deps.run ?? runProgram)(
      'qemu-img',
      ['convert', '-c', '-f', format, '-O', 'qcow2', path, target],
      { timeoutMs: CONVERT_TIMEOUT_MS, signal, limits: CONVERT_LIMITS },
    );
    if (result.missing) throw notInstalled('qemu-img');
    if (result.code !== 0) throw translateFailure('qemu-img', result);
    return createReadStream(target);
  }

  private async diskOf(ref: InstanceRef): Promise<ExportedDisk> {
    const { connection, finder } = this.deps;
    const { uuid } = await finder.find(ref);
    const domain = await connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
    if (domain.state.isActive)
      throw new DomainError('WRONG_STATE', `${ref.name} runs: stop it before exporting its disk.`);
    const description = describeDomain(domain.xml);
    if (description.metadata.provisioning !== undefined) {
      throw new DomainError('WRONG_STATE', `The disk of ${ref.name} is still being filled.`);
    }
    if (isRemote(connection.uri)) {
      throw new DomainError('NOT_SUPPORTED', 'Disks of another machine are not exported: run the service there.');
    }
    const disk = bootDisk(description);
    const format = disk && formatOf(description, disk.target);
    if (disk?.path === undefined || format === undefined) {
      throw new DomainError('NOT_SUPPORTED', `${ref.name} has no boot disk that is a file or a block device.`);
    }
    await expectReadable(disk.path);
    return { path: disk.path, format };
  }

  private async expectProgram(program: string): Promise<void> {
    const result = await (this.deps.run ?? runProgram)(program, ['--version'], { timeoutMs: PROBE_TIMEOUT_MS });
    if (result.missing) throw notInstalled(program);
  }
}

/** The error of a machine without the converter, or without the server that reads disks. */
const notInstalled = (program: string): DomainError =>
  new DomainError('NOT_SUPPORTED', `${program} is not installed: install the package qemu-utils.`);

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
