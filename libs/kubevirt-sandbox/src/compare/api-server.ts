import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';
import { CLIENT_HEADERS } from './client-headers.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

const TIMEOUT_MS = 60_000;

/** An API server with the credentials of a kubeconfig. */
export class ApiServer {
  private constructor(
    private readonly config: KubeConfig,
    readonly url: URL,
  ) {}

  static fromFile(path: string): ApiServer {
    const config = new KubeConfig();
    config.loadFromFile(path);
    return ApiServer.of(config, path);
  }

  static fromText(kubeconfig: string): ApiServer {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    return ApiServer.of(config, 'the kubeconfig');
  }

  private static of(config: KubeConfig, source: string): ApiServer {
    const server = config.getCurrentCluster()?.server;
    if (!server) throw new Error(`${source} has no current context with an API server`);
    return new ApiServer(config, new URL(server));
  }

  async send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
    const options: RequestOptions = {};
    await this.config.applyToHTTPSOptions(options);
    delete options.agent;
    const base = this.url.pathname.replace(/\/$/, '');
    const url = new URL(`${base}${path}`, this.url);
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    return new Promise((resolve, reject) => {
      const request = send(
        url,
        {
          ...options,
          method,
          // Without a length, Node sends the body of a DELETE as the beginning of the next request.
          headers: {
            ...options.headers,
            ...CLIENT_HEADERS,
            ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
            ...headers,
          },
          timeout: TIMEOUT_MS,
        },
        (response) => {
          text(response).then(
            (content) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: content }),
            reject,
          );
        },
      );
      request.on('timeout', () => request.destroy(new Error(`${method} ${path} got no answer within a minute`)));
      request.on('error', reject);
      request.end(body);
    });
  }
}
