import { InvalidInputError } from '../model/errors.js';
import type { FileInput, FileReport, SnapshotWriter } from '../model/types.js';
import { contentIdOf } from '../reading/snapshot-tree.js';
import type { BackupSession } from './backup-session.js';
import { BlockFile } from './block-file.js';
import type { TreeBuilder } from './tree-builder.js';

/** The blobs of a file in another snapshot; undefined if its blocks can't be reused. */
export type FindContent = (snapshotId: string, path: string) => Promise<readonly string[] | undefined>;

const MAX_DATA_BYTES = 64 << 20;

/** The writer that a backup gives to its caller. */
export class SessionWriter implements SnapshotWriter {
  private turn: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  constructor(
    private readonly session: BackupSession,
    private readonly tree: TreeBuilder,
    private readonly findContent: FindContent,
    private readonly defaultMtime: string,
  ) {}

  file(path: string, input: FileInput): Promise<FileReport> {
    return this.inTurn(() => this.storeFile(path, input));
  }

  async data(path: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_DATA_BYTES) {
      throw new InvalidInputError(`bytes: ${bytes.length} are too many for one call; use file.`);
    }
    await this.file(path, {
      size: bytes.length,
      read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
    });
  }

  /** Refuses further calls and waits for those that have begun. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.turn.catch(() => undefined);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(new InvalidInputError('The backup has ended.'));
    const turn = this.turn.then(work, work);
    this.turn = turn.catch(() => undefined);
    return turn;
  }

  private async storeFile(path: string, input: FileInput): Promise<FileReport> {
    const mtime = input.mtime ?? this.defaultMtime;
    if (Number.isNaN(Date.parse(mtime))) throw new InvalidInputError(`mtime: ${mtime} is no time.`);
    const place = this.tree.reserve(path);
    const { content, counts } = await new BlockFile(this.session, input, await this.parentOf(input)).store();
    place.add({ size: input.size, mtime, content });
    this.session.totals.files++;
    return { path, size: input.size, contentId: contentIdOf(content), ...counts };
  }

  private async parentOf({ parent, changed }: FileInput): Promise<readonly string[] | undefined> {
    if (parent === undefined || changed === undefined) return undefined;
    return this.findContent(parent.snapshotId, parent.path);
  }
}
