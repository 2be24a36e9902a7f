import { useQuery } from '@tanstack/react-query';
import type { FilePageView, FileSessionView } from '@headgate/api-contracts';
import { extensionPath, type InstanceAddress } from '../api/instance-path.js';
import { deleteJson, getJson, postJson, withQuery } from '../api/request.js';

const TARGETS = '/api/ext/backups/targets';

/** The entries of a folder that are shown at a time. */
export const PAGE_ENTRIES = 200;

/** A place in a session. */
export interface FilePlace {
  readonly volume: number;
  /** From `/`, as the service writes names. */
  readonly path: string;
}

/** `content` is that of a file, and `archive` a folder as tar. */
export type DownloadKind = 'content' | 'archive';

/** The disks whose files are browsed. */
export interface FilesSource {
  /** Boots the guest that reads the disks, or finds the one that this user has. */
  open(): Promise<FileSessionView>;
  close(session: string): Promise<unknown>;
  entries(
    session: string,
    query: FilePlace & { readonly skip?: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<FilePageView>;
  /** The address of a download. */
  address(session: string, kind: DownloadKind, place: FilePlace): string;
}

/** @param context boots the guest */
export function filesOfPoint(target: string, point: string, context: string): FilesSource {
  const files = `${TARGETS}/${target}/points/${point}/files` as const;
  return {
    open: () => postJson(files, { body: { context } }),
    close: (session) => deleteJson(`${files}/${session}`),
    entries: (session, query, signal) => getJson(`${files}/${session}/entries`, { query, signal }),
    address: (session, kind, { volume, path }) => withQuery(`${files}/${session}/${kind}`, { volume, path }),
  };
}

/** Of a VM that is stopped. */
export function filesOfVm(address: InstanceAddress): FilesSource {
  const { context } = address;
  const files = `${extensionPath(address)}/files` as const;
  return {
    open: () => postJson(files, { body: {}, query: { context } }),
    close: (session) => deleteJson(`${files}/${session}`, { query: { context } }),
    entries: (session, query, signal) =>
      getJson(`${files}/${session}/entries`, { query: { ...query, context }, signal }),
    address: (session, kind, { volume, path }) => withQuery(`${files}/${session}/${kind}`, { volume, path, context }),
  };
}

/** A tree of folders that is browsed. */
export interface FolderSource {
  /** Names the tree in the cache. */
  readonly key: readonly unknown[];
  /** Whether its files may change while they are browsed. */
  readonly isLive: boolean;
  entries(
    query: { readonly path: string; readonly skip?: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<FilePageView>;
  /** The address of a file. */
  contentAt(path: string): string;
  /** The address of a folder as tar, where there are such. */
  readonly archiveAt?: (path: string) => string;
}

export const foldersOfVolume = (source: FilesSource, session: string, volume: number): FolderSource => ({
  key: [session, volume],
  isLive: false,
  entries: (query, signal) => source.entries(session, { ...query, volume }, signal),
  contentAt: (path) => source.address(session, 'content', { volume, path }),
  archiveAt: (path) => source.address(session, 'archive', { volume, path }),
});

/** Of a container that runs. */
export function foldersOfContainer(address: InstanceAddress): FolderSource {
  const { context } = address;
  const files = `${extensionPath(address, 'cts')}/files` as const;
  return {
    key: ['container', address],
    isLive: true,
    entries: (query, signal) => getJson(`${files}/entries`, { query: { ...query, context }, signal }),
    contentAt: (path) => withQuery(`${files}/content`, { path, context }),
  };
}

export const useEntries = (folders: FolderSource, path: string, skip: number) =>
  useQuery({
    queryKey: ['files', ...folders.key, path, skip],
    queryFn: ({ signal }) => folders.entries({ path, ...(skip > 0 && { skip }), limit: PAGE_ENTRIES }, signal),
    // Disks do not change. A request is not repeated for a session that has ended.
    staleTime: folders.isLive ? 0 : Number.POSITIVE_INFINITY,
    retry: false,
  });

export const childOf = (path: string, name: string): string => (path === '/' ? `/${name}` : `${path}/${name}`);
