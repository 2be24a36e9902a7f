import { DomainError } from '@headgate/domain-contracts';
import type { KubeConnection } from '../api/kube-connection.js';

/** A probe for Reachability. An overloaded server counts as reachable. */
export const versionProbe =
  (connection: KubeConnection) =>
  async (timeoutMs: number, signal: AbortSignal): Promise<void> => {
    try {
      await connection.text('GET', '/version', { timeoutMs, signal, retry: false });
    } catch (error) {
      if (!DomainError.is(error, 'BUSY')) throw error;
    }
  };
