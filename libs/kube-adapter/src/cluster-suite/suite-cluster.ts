import { resolve } from 'node:path';
import { SystemClock } from '@headgate/domain-contracts';
import { KubeApi } from '../api/kube-api.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { SuiteSettings } from './suite-settings.js';

/** A connection to the cluster of the suites. */
export interface SuiteCluster {
  readonly api: KubeApi;
  readonly discovery: ClusterDiscovery;
  readonly settings: SuiteSettings;
  readonly clock: SystemClock;
  /** The name or the address of the API server. */
  host(): Promise<string>;
  close(): void;
}

/** Keeps the process alive, which has nothing else to do while it waits for the cluster. */
class WaitingClock extends SystemClock {
  override after(ms: number, callback: () => void): () => void {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  }
}

/** Sends no request. */
export function openSuiteCluster(settings: SuiteSettings): SuiteCluster {
  const clock = new WaitingClock();
  const credentials = new KubeCredentials({ file: resolve(settings.kubeconfig) });
  const api = new KubeApi('the cluster', credentials, clock);
  const discovery = new ClusterDiscovery(api, clock);
  const host = async (): Promise<string> => (await credentials.endpoint()).url.hostname;
  return { api, discovery, settings, clock, host, close: () => credentials.close() };
}
