import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getJson, postJson } from '../../../shared/api/request.js';

const KEY = ['ssh-keys'];

/** The public keys that the service remembers for the user. */
export const useSshKeys = () =>
  useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJson('/api/ext/ssh-keys', { signal }), retry: false });

/** Stores public keys for the next VMs. */
export function useRememberSshKeys() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (keys: readonly string[]) => {
      for (const key of keys) await postJson('/api/ext/ssh-keys', { body: { key } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}
