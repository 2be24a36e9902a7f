import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../../shared/api/request.js';
import { detailsKey, detailsPath, type ReadInstance } from './details-path.js';

/** The last events of an instance, newest first. */
export const useEvents = (instance: ReadInstance, enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['events', ...detailsKey(instance)],
    queryFn: ({ signal }) =>
      getJson(`${detailsPath(instance)}/events`, {
        query: { context: instance.context },
        signal,
      }),
  });
