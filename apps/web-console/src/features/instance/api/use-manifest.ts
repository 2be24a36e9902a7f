import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../../shared/api/request.js';
import { detailsKey, detailsPath, type ReadInstance } from './details-path.js';

/** The backend's own object. */
export const useManifest = (instance: ReadInstance) =>
  useQuery({
    queryKey: ['manifest', ...detailsKey(instance)],
    queryFn: ({ signal }) => getJson(detailsPath(instance), { query: { context: instance.context }, signal }),
  });
