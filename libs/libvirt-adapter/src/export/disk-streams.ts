import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { constants as zlib, createGzip } from 'node:zlib';
import { DomainError, releaseOnDestroy, type Clock, type ExportFormat } from '@headgate/domain-contracts';
import { runProgram, type RunProgram } from '../programs/run-program.js';
import { translateFailure } from '../programs/translate-failure.js';
import { NbdServer, type ExportedDisk } from './nbd-server.js';

export interface DiskStreamsDeps {
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

/** Streams the content of disks that nothing else writes to. The end of a stream ends the programs behind it. */
export class DiskStreams {
  private readonly run: RunProgram;

  constructor(private readonly deps: DiskStreamsDeps) {
    this.run = deps.run ?? runProgram;
  }

  /** @throws DomainError NOT_SUPPORTED when the program for the format is not installed */
  async expectProgram(format: ExportFormat): Promise<void> {
    const program = PROGRAMS[format];
    const result = await this.run(program, ['--version'], { timeoutMs: PROBE_TIMEOUT_MS });
    if (result.missing) throw notInstalled(program);
  }

  async open(disk: ExportedDisk, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
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
    const result = await this.run('qemu-img', ['convert', '-c', '-f', format, '-O', 'qcow2', path, target], {
      timeoutMs: CONVERT_TIMEOUT_MS,
      signal,
      limits: CONVERT_LIMITS,
    });
    if (result.missing) throw notInstalled('qemu-img');
    if (result.code !== 0) throw translateFailure('qemu-img', result);
    return createReadStream(target);
  }
}

/** The error of a machine without the converter, or without the server that reads disks. */
const notInstalled = (program: string): DomainError =>
  new DomainError('NOT_SUPPORTED', `${program} is not installed: install the package qemu-utils.`);
