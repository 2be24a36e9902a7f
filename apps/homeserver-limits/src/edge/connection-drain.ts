import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Requests in progress at shutdown get this long to complete. */
export const DRAIN_TIMEOUT_MS = 3_000;

/** Closes the connections that remain after the drain timeout, so that shutdown ends. */
@Injectable()
export class ConnectionDrain implements BeforeApplicationShutdown, OnApplicationShutdown {
  private timer?: NodeJS.Timeout;

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    const server: Server = this.adapterHost.httpAdapter.getHttpServer();
    this.timer = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}
