import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';
import { STREAMED_KEYS } from './stream-queries.js';

/** The paths of all folders, once they are needed. */
export const useFolderPaths = (isNeeded: boolean) =>
  useQuery({
    enabled: isNeeded,
    queryKey: STREAMED_KEYS.folders,
    queryFn: ({ signal }) => getJson('/api/folders', { query: { summary: true }, signal }),
    select: ({ folders }) => folders.map(({ path }) => path),
  });
