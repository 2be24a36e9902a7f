import { Injectable } from '@nestjs/common';
import { FileSessionView, type FilePageView, type FileQuery, type FileListQuery } from '@headgate/api-contracts';
import { DownloadFiles, FILE_SESSION_IDLE_MS, type FileDownload, type FileSession } from '@headgate/backups';
import { pathOfFile, type Caller } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';
import { clientLeft } from '../platform/client-left.js';
import { attachment, attachmentHeaders } from '../platform/attachment.js';

const DEFAULT_LIMIT = 200;

/** The answers that the sessions of backups and of VMs have in common. */
@Injectable()
export class FileAnswers {
  constructor(private readonly download: DownloadFiles) {}

  session({ id, files }: FileSession): FileSessionView {
    return {
      session: id,
      idleSeconds: FILE_SESSION_IDLE_MS / 1000,
      volumes: files.volumes.map((volume) => ({ ...volume })),
    };
  }

  async page(session: FileSession, { volume, path, skip, limit }: FileListQuery): Promise<FilePageView> {
    const range = { skip: Number(skip ?? 0), limit: Number(limit ?? DEFAULT_LIMIT) };
    const page = await this.download.list(session, placeOf({ volume, path }), range);
    return { ...page, entries: page.entries.map((entry) => ({ ...entry })) };
  }

  async file(session: FileSession, query: FileQuery, caller: Caller, reply: FastifyReply): Promise<void> {
    const place = placeOf(query);
    const gone = clientLeft(reply);
    const found = await this.download.file(session, place, caller, gone);
    this.send(reply, found, 'application/octet-stream', lastNameOf(place.path, 'file'));
  }

  async folder(session: FileSession, query: FileQuery, caller: Caller, reply: FastifyReply): Promise<void> {
    const place = placeOf(query);
    const gone = clientLeft(reply);
    const found = await this.download.folder(session, place, caller, gone);
    const volume = session.files.volumes[place.volume]?.name ?? '';
    this.send(reply, found, 'application/x-tar', `${lastNameOf(place.path, volume)}.tar`);
  }

  private send(reply: FastifyReply, { stream, sizeBytes }: FileDownload, type: string, name: string): void {
    void reply
      .headers({
        ...attachmentHeaders(type, attachment(name)),
        ...(sizeBytes !== undefined && { 'content-length': String(sizeBytes) }),
      })
      .send(stream);
  }
}

const placeOf = ({ volume, path }: Pick<FileQuery, 'volume' | 'path'>): { volume: number; path: string } => ({
  volume: Number(volume),
  path: pathOfFile(path),
});

const lastNameOf = (path: string, otherwise: string): string => path.split('/').at(-1) || otherwise;
