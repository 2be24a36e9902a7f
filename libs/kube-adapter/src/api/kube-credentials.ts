import { Agent as HttpAgent, type Agent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { DomainError, messageOf } from '@headgate/domain-contracts';
import type { KubeConfig } from '@kubernetes/client-node';
import { loadKubeConfig, type KubeconfigSource } from './kubeconfig-source.js';

/** Where the API server is and what to send along. Both are valid for one request only: tokens expire. */
export interface Endpoint {
  readonly url: URL;
  /** Headers, TLS material and agent, for `node:https` and for WebSockets alike. */
  readonly options: RequestOptions;
}

/** TLS material by which two agents are told apart. */
const TLS_FIELDS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** Tells keep-alive probes apart from a load balancer's idle timeout, which is often 60 s. */
const KEEP_ALIVE_MS = 30_000;

/**
 * The credentials of one context. The library reads them in every form that it knows (tokens, certificates, exec
 * plugins, OIDC, service accounts); this class keeps one pool of connections per TLS identity.
 */
export class KubeCredentials {
  private config: Promise<KubeConfig> | undefined;
  private pool: { readonly material: readonly unknown[]; readonly agent: Agent } | undefined;

  /** @param kubeContext the kubeconfig's context; absent: its current one */
  constructor(
    private readonly source: KubeconfigSource,
    private readonly kubeContext?: string,
  ) {}

  /** @throws DomainError BACKEND_UNREACHABLE when the kubeconfig can't be read or names no such context */
  async endpoint(): Promise<Endpoint> {
    try {
      this.config ??= loadKubeConfig(this.source, this.kubeContext);
      const config = await this.config;
      const server = config.getCurrentCluster()?.server;
      if (!server) throw new Error('it names no API server');
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const url = new URL(server);
      if (config.getCurrentCluster()?.proxyUrl === undefined) options.agent = this.agent(url, options);
      return { url, options };
    } catch (error) {
      this.forget();
      throw new DomainError('BACKEND_UNREACHABLE', `The kubeconfig can't be used: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  /** Reads the kubeconfig again next time; after a 401 somebody may have renewed it. */
  forget(): void {
    this.config = undefined;
  }

  close(): void {
    this.pool?.agent.destroy();
    this.pool = undefined;
  }

  // The library's own agents open a connection per request, and keep a certificate that was renewed meanwhile.
  private agent(url: URL, options: RequestOptions): Agent {
    const material = TLS_FIELDS.map((field) => options[field]);
    if (this.pool?.material.every((value, index) => sameMaterial(value, material[index]))) return this.pool.agent;
    this.pool?.agent.destroy();
    const tls = Object.fromEntries(
      TLS_FIELDS.flatMap((field, i) => (material[i] === undefined ? [] : [[field, material[i]]])),
    );
    const settings = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, ...environmentProxy(url) };
    const agent = url.protocol === 'https:' ? new HttpsAgent({ ...tls, ...settings }) : new HttpAgent(settings);
    this.pool = { material, agent };
    return agent;
  }
}

const sameMaterial = (a: unknown, b: unknown): boolean =>
  Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : a === b;

/** As kubectl does: HTTPS_PROXY and NO_PROXY count, but never for this machine itself. */
const environmentProxy = ({ hostname }: URL): { proxyEnv?: NodeJS.ProcessEnv } =>
  hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.') ? {} : { proxyEnv: process.env };
