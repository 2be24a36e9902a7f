import { stringify } from 'yaml';

export interface KubeconfigFields {
  server: string;
  user: string;
  token: string;
  namespace?: string;
}

const NAME = 'sandbox';

/**
 * A kubeconfig with one cluster and one user. The client library for Node requires the insecure flag for a plain HTTP
 * server.
 */
export function kubeconfig({ server, user, token, namespace }: KubeconfigFields): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user, ...(namespace && { namespace }) } }],
    'current-context': NAME,
  });
}
