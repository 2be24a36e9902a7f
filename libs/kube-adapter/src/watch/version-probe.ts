import { DomainError } from '@headgate/domain-contracts';
import type { KubeConnection } from '../api/kube-connection.js';

/** A probe for Reachability. An overloaded server counts as reachable. */
export const versionProbe =
  (connection: KubeConnection) =>
  async (timeoutMs: number): Promise<void> => {
    try {
      await connection.text('GET', '/version', { timeoutMs, retry: false });
    } catch (error) {
      if (!DomainError.is(error, 'BUSY')) throw error;
    }
  };
