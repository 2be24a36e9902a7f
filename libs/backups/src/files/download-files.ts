import { Readable } from 'node:stream';
import type { Audit, Caller, FilePage, FileRange } from '@headgate/domain-contracts';
import type { FileSession, FileSessions } from './file-sessions.js';

export interface DownloadFilesDeps {
  readonly sessions: FileSessions;
  readonly audit: Audit;
}

/** A place in a session. */
export interface FilePlace {
  readonly volume: number;
  /** As `textOfFile` writes it. */
  readonly path: string;
}

export interface FileDownload {
  readonly stream: Readable;
  /** Absent if it is not known before the end. */
  readonly sizeBytes?: number;
}

/** Lists and reads the files of a session. The journal has each download. */
export class DownloadFiles {
  constructor(private readonly deps: DownloadFilesDeps) {}

  list({ files }: FileSession, { volume, path }: FilePlace, range: FileRange): Promise<FilePage> {
    return files.list(volume, path, range);
  }

  file(session: FileSession, place: FilePlace, caller: Caller, signal: AbortSignal): Promise<FileDownload> {
    return this.record(session, place, caller, 'download file', async () =>
      session.files.read(place.volume, place.path, signal),
    );
  }

  /** A folder as tar. */
  folder(session: FileSession, place: FilePlace, caller: Caller, signal: AbortSignal): Promise<FileDownload> {
    return this.record(session, place, caller, 'download folder', async () => ({
      stream: await session.files.archive(place.volume, place.path, signal),
    }));
  }

  private async record(
    session: FileSession,
    { volume, path }: FilePlace,
    caller: Caller,
    action: string,
    open: () => Promise<FileDownload>,
  ): Promise<FileDownload> {
    const { audit, sessions } = this.deps;
    const name = session.files.volumes[volume]?.name ?? String(volume);
    const download = await audit.of(caller, action, session.subject, open, () =>
      [`${path} on ${name}`, session.label].filter(Boolean).join(' '),
    );
    // A long download is a use as well.
    return { ...download, stream: reported(download.stream, () => void sessions.used(session)) };
  }
}

/** @param onPart is called for each part that is read */
function reported(stream: Readable, onPart: () => void): Readable {
  const parts = Readable.from(partsOf(stream, onPart), { objectMode: false });
  // Also if nothing was read.
  return parts.once('close', () => void stream.on('error', () => undefined).destroy());
}

async function* partsOf(stream: Readable, onPart: () => void): AsyncGenerator<Buffer> {
  for await (const part of stream) {
    onPart();
    yield part as Buffer;
  }
}
