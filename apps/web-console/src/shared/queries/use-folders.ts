import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';
import { STREAMED_KEYS, useFreshness } from './stream-queries.js';

const POLL_MS = 15_000;

/** All folders, without their members. */
export const useFolders = () =>
  useQuery({
    queryKey: STREAMED_KEYS.folders,
    queryFn: ({ signal }) => getJson('/api/folders', { query: { summary: true }, signal }),
    ...useFreshness(POLL_MS),
  });
