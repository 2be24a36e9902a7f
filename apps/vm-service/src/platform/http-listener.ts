import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ListenAddress } from '@headgate/nest-kit';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Settings } from '../config/load-config.js';
import { SETTINGS } from './tokens.js';

/**
 * Listens as the first step of the start, so that probes are answered while the store and the backends open. Nest
 * itself listens after all start hooks.
 */
@Injectable()
export class HttpListener implements OnApplicationBootstrap {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { host, port } = ListenAddress.parse(this.settings.listen);
    await this.host.httpAdapter.getInstance().listen({ host, port });
  }

  /** The port that it listens on, which differs from the configured one when that is 0. */
  get port(): number {
    return (this.host.httpAdapter.getHttpServer().address() as AddressInfo).port;
  }
}
