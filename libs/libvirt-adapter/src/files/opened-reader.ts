import type { Readable } from 'node:stream';
import {
  bytesOfFile,
  DomainError,
  OpenedFiles,
  type FileContent,
  type FilePage,
  type FileRange,
  type FileVolume,
} from '@headgate/domain-contracts';
import { pathQuestion, readPage } from './answers.js';
import { Fields } from './fields.js';
import type { ReaderPort, ReaderStream } from './reader-port.js';

const MAX_LIMIT = 1000;

export interface ReaderParts {
  readonly volumes: readonly FileVolume[];
  /** For questions. */
  readonly port: ReaderPort;
  /** For one download each. */
  readonly downloads: readonly ReaderPort[];
  readonly ended: Promise<void>;
  /** Ends the guest, and resolves when nothing is left of it. */
  readonly end: () => Promise<void>;
}

/** The files of a reader guest that runs. */
export class OpenedReader extends OpenedFiles {
  override readonly volumes: readonly FileVolume[];
  override readonly ended: Promise<void>;

  constructor(private readonly parts: ReaderParts) {
    super();
    this.volumes = parts.volumes;
    this.ended = parts.ended;
  }

  override async list(volume: number, path: string, { skip, limit }: FileRange): Promise<FilePage> {
    const range = { skip: Math.min(Math.max(0, skip), 0xffff_ffff), limit: Math.min(Math.max(1, limit), MAX_LIMIT) };
    const content = await this.parts.port.ask('L', pathQuestion(this.number(volume), bytesOfFile(path), range));
    return readPage(content, range.limit);
  }

  override async read(volume: number, path: string, signal: AbortSignal): Promise<FileContent> {
    const { head, body } = await this.download('R', volume, path, signal);
    return { sizeBytes: new Fields(head).size(), stream: body };
  }

  override async archive(volume: number, path: string, signal: AbortSignal): Promise<Readable> {
    return (await this.download('T', volume, path, signal)).body;
  }

  override close(): Promise<void> {
    return this.parts.end();
  }

  private async download(type: 'R' | 'T', volume: number, path: string, signal: AbortSignal): Promise<ReaderStream> {
    const question = pathQuestion(this.number(volume), bytesOfFile(path));
    const free = this.parts.downloads.find((port) => !port.isBusy);
    if (!free)
      throw new DomainError(
        'BUSY',
        `${this.parts.downloads.length} downloads of these disks run already: wait for one.`,
      );
    return free.stream(type, question, signal);
  }

  private number(volume: number): number {
    if (this.volumes[volume]) return volume;
    throw new DomainError('FILE_NOT_FOUND', `There is no volume ${volume}.`);
  }
}
