import { Agent as HttpAgent, type Agent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { DomainError, messageOf } from '@headgate/domain-contracts';
import type { KubeConfig } from '@kubernetes/client-node';
import { loadKubeConfig, type KubeconfigSource } from './kubeconfig-source.js';

/** The API server's address and the credentials to send. Valid for one request only, because tokens expire. */
export interface Endpoint {
  readonly url: URL;
  /** Headers, TLS material and an agent that keeps connections. */
  readonly options: RequestOptions;
  /**
   * The same for a connection of its own, through the same proxy: for WebSockets, whose connections are never used
   * again.
   */
  readonly unpooled: RequestOptions;
}

/** The TLS options that an agent is bound to. */
const TLS_FIELDS = ['ca', 'cert', 'key', 'pfx', 'passphrase', 'rejectUnauthorized', 'servername'] as const;

/** Shorter than the idle timeout of most load balancers, which is often 60 s. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/** The agents of one TLS identity. */
interface AgentPool {
  readonly material: readonly unknown[];
  readonly keeping: Agent;
  readonly unpooled: Agent;
}

/**
 * The credentials of one context. @kubernetes/client-node reads every kind (tokens, certificates, exec plugins, OIDC,
 * service accounts). This class adds a connection pool per TLS identity.
 */
export class KubeCredentials {
  private config: Promise<KubeConfig> | undefined;
  private pool: AgentPool | undefined;

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
      // The library makes the agent for the proxy of a kubeconfig.
      if (config.getCurrentCluster()?.proxyUrl !== undefined) return { url, options, unpooled: options };
      const { keeping, unpooled } = this.agents(url, options);
      return { url, options: { ...options, agent: keeping }, unpooled: { ...options, agent: unpooled } };
    } catch (error) {
      this.invalidate();
      throw new DomainError('BACKEND_UNREACHABLE', `The kubeconfig can't be used: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  /** Makes the next request read the kubeconfig again: after a 401 it may have been renewed. */
  invalidate(): void {
    this.config = undefined;
  }

  close(): void {
    this.dropPool();
  }

  private dropPool(): void {
    this.pool?.keeping.destroy();
    this.pool?.unpooled.destroy();
    this.pool = undefined;
  }

  // The library's own agents open a connection per request and keep using a certificate that has been renewed.
  private agents(url: URL, request: RequestOptions): AgentPool {
    const material = TLS_FIELDS.map((field) => request[field]);
    if (this.pool?.material.every((value, index) => sameMaterial(value, material[index]))) return this.pool;
    this.dropPool();
    const tls = Object.fromEntries(
      TLS_FIELDS.flatMap((field, i) => (material[i] === undefined ? [] : [[field, material[i]]])),
    );
    const open = (options: AgentOptions): Agent => {
      const all = { ...options, ...environmentProxy(url) };
      return url.protocol === 'https:' ? new HttpsAgent({ ...tls, ...all }) : new HttpAgent(all);
    };
    const keeping = open({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS });
    this.pool = { material, keeping, unpooled: open({ keepAlive: false }) };
    return this.pool;
  }
}

const sameMaterial = (a: unknown, b: unknown): boolean =>
  Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : a === b;

/** Honors HTTPS_PROXY and NO_PROXY as kubectl does, but never for loopback addresses. */
const environmentProxy = ({ hostname }: URL): { proxyEnv?: NodeJS.ProcessEnv } =>
  hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.') ? {} : { proxyEnv: process.env };
