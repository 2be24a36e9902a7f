import { useQuery } from '@tanstack/react-query';
import type { CustomSourceDto, ImageAcceptedView, ImportImageDto, PlanView } from '@headgate/api-contracts';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

const PATH = '/api/datavolumes';

export const SOURCES_KEY = ['custom-sources'] as const;

/** An image by its place. */
export interface ImageAddress {
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
}

export const importImage = (request: ImportImageDto): Promise<ImageAcceptedView> => postJson(PATH, { body: request });

export const previewImport = (request: ImportImageDto): Promise<PlanView> =>
  postJson(PATH, { body: request, query: { dryRun: true } });

/** A file to upload. All its parts have the same values. */
export interface UploadTarget {
  readonly name: string;
  readonly context: string;
  /** Absent: the default namespace of the context. */
  readonly namespace?: string;
  readonly size?: string;
  readonly checksum?: string;
}

const uploadQuery = (target: UploadTarget, file: File) => ({
  ...target,
  bytes: file.size,
  version: String(file.lastModified),
});

export const sendPart = (
  { target, file, offset, part }: { target: UploadTarget; file: File; offset: number; part: Blob },
  signal: AbortSignal,
): Promise<ImageAcceptedView> =>
  postJson(PATH, {
    query: { ...uploadQuery(target, file), offset },
    bytes: part,
    signal,
  });

/** The plan needs no content of the file, but the service expects a body. */
export const previewUpload = (target: UploadTarget, file: File): Promise<PlanView> =>
  postJson(PATH, { query: { ...uploadQuery(target, file), dryRun: true }, bytes: file.slice(0, 1) });

const imagePath = ({ namespace, name }: ImageAddress) =>
  `${PATH}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` as const;

export const deleteImage = (image: ImageAddress): Promise<unknown> =>
  deleteJson(imagePath(image), { query: { context: image.context } });

export const previewDeletion = (image: ImageAddress, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(imagePath(image), { query: { context: image.context, dryRun: true }, signal });

/** The images that users have added to the catalog. */
export const useCustomSources = () =>
  useQuery({
    queryKey: SOURCES_KEY,
    queryFn: ({ signal }) => getJson('/api/sources', { signal }),
  });

export const addSource = (source: CustomSourceDto): Promise<unknown> => postJson('/api/sources', { body: source });

export const previewSource = (source: CustomSourceDto, signal: AbortSignal): Promise<PlanView> =>
  postJson('/api/sources', { body: source, query: { dryRun: true }, signal });

export const removeSource = (name: string): Promise<unknown> => deleteJson(`/api/sources/${encodeURIComponent(name)}`);

export const previewRemoval = (name: string, signal: AbortSignal): Promise<PlanView> =>
  deleteJson(`/api/sources/${encodeURIComponent(name)}`, { query: { dryRun: true }, signal });
