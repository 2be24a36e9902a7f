import { type ClientRequest, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { LimitsModule } from '../module/limits.module.js';
import type { LimitsModuleExtras, LimitsOptions } from '../rules/limits-options.js';

export type Platform = 'Fastify' | 'Express';

export const PLATFORMS: readonly Platform[] = ['Fastify', 'Express'];

export interface Sent {
  readonly headers?: Record<string, string>;
  /** A string is sent as is, anything else as JSON. */
  readonly body?: unknown;
  /** The source address, as reported by a trusted proxy. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** An application with limits, listening on a free port. */
export class TestApp {
  private constructor(
    private readonly app: INestApplication,
    readonly clock: ManualClock,
    readonly registry: Registry,
  ) {}

  static async start(
    platform: Platform,
    { imports = [], ...metadata }: ModuleMetadata,
    options: LimitsOptions & LimitsModuleExtras = {},
  ): Promise<TestApp> {
    const clock = new ManualClock();
    const registry = (options.registry as Registry | undefined) ?? new Registry();
    const limits = LimitsModule.forRoot({ limiter: new MemoryRateLimiter({ clock }), registry, ...options });
    const module = await Test.createTestingModule({ ...metadata, imports: [...imports, limits] }).compile();
    const app = module.createNestApplication(adapters[platform](), { logger: false });
    if (platform === 'Express') (app as NestExpressApplication).set('trust proxy', 'loopback');
    await app.listen(0, '127.0.0.1').catch(async (error: unknown) => {
      await app.close();
      throw error;
    });
    return new TestApp(app, clock, registry);
  }

  get<Value>(token: Type<Value>): Value {
    return this.app.get(token);
  }

  send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const call = this.open(method, path, sent);
      call.once('error', reject);
      call.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const json = response.headers['content-type']?.includes('json');
          const body = (json ? JSON.parse(text) : { text }) as Answer['body'];
          resolve({ status: response.statusCode!, headers: response.headers, body });
        });
      });
    });
  }

  /** A request that the caller can abort. */
  open(method: string, path: string, { headers = {}, body, from }: Sent = {}): ClientRequest {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const call = request({
      host: '127.0.0.1',
      port: (this.app.getHttpServer().address() as AddressInfo).port,
      method,
      path,
      agent: false,
      headers: {
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
        ...headers,
      },
    } satisfies RequestOptions);
    call.on('error', () => undefined);
    call.end(text);
    return call;
  }

  /** The number of decisions of a rule by outcome. */
  async decisions(rule: string): Promise<Record<string, number>> {
    const metric = await this.registry.getSingleMetric('limits_decisions_total')!.get();
    const own = metric.values.filter(({ labels }) => labels['rule'] === rule);
    return Object.fromEntries(own.map(({ labels, value }) => [labels['outcome'], value]));
  }

  close(): Promise<void> {
    return this.app.close();
  }
}

const adapters = {
  Fastify: () => new FastifyAdapter({ trustProxy: '127.0.0.1', forceCloseConnections: true }),
  Express: () => new ExpressAdapter(),
};
