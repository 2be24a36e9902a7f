import { useQuery } from '@tanstack/react-query';
import type { FileSessionView } from '@headgate/api-contracts';
import { deleteJson, getJson, postJson, withQuery } from '../api/request.js';

const TARGETS = '/api/ext/backups/targets';

/** The entries of a folder that are shown at a time. */
export const PAGE_ENTRIES = 200;

/** Where the files of a backup are. */
export interface PointFiles {
  readonly target: string;
  readonly point: string;
}

/** A place in a session. */
export interface FilePlace {
  readonly volume: number;
  /** From `/`, as the service writes names. */
  readonly path: string;
}

const filesOf = ({ target, point }: PointFiles) => `${TARGETS}/${target}/points/${point}/files` as const;

/** Boots the guest that reads the disks, or finds the one that this user has. */
export const openFiles = (files: PointFiles, context: string): Promise<FileSessionView> =>
  postJson(filesOf(files), { body: { context } });

export const closeFiles = (files: PointFiles, session: string): Promise<unknown> =>
  deleteJson(`${filesOf(files)}/${session}`);

export const useEntries = (files: PointFiles, session: string, place: FilePlace, skip: number) =>
  useQuery({
    queryKey: ['files', files, session, place, skip],
    queryFn: ({ signal }) =>
      getJson(`${filesOf(files)}/${session}/entries`, {
        query: { ...place, ...(skip > 0 && { skip }), limit: PAGE_ENTRIES },
        signal,
      }),
    // The disks do not change. A request is not repeated for a session that has ended.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** The address of the content of a file, or of a folder as tar. */
export const downloadUrl = (
  files: PointFiles,
  session: string,
  kind: 'content' | 'archive',
  { volume, path }: FilePlace,
): string => withQuery(`${filesOf(files)}/${session}/${kind}`, { volume, path });

export const childOf = (path: string, name: string): string => (path === '/' ? `/${name}` : `${path}/${name}`);
