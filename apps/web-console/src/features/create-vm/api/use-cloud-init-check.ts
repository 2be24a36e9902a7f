import { useQuery } from '@tanstack/react-query';
import { postJson } from '../../../shared/api/request.js';
import { useSettled } from '../../../shared/ui/use-settled.js';

/** How long the text has to rest before the service checks it. */
const REST_MS = 400;

/** The service's check of user data; undefined until it is known for this text. */
export function useCloudInitCheck(userData: string) {
  const isSettled = useSettled(userData, REST_MS, '') === userData;
  const { data } = useQuery({
    queryKey: ['cloud-init', userData],
    queryFn: ({ signal }) => postJson('/api/ext/cloud-init/check', { body: { userData }, signal }),
    enabled: isSettled && userData.trim() !== '',
    // Without the check, the text can still be sent: the guest decides.
    retry: false,
    gcTime: 0,
  });
  return isSettled ? data?.problems : undefined;
}
