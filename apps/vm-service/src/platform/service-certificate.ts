import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { Clock } from '@headgate/domain-contracts';
import type { LoadedCertificate, TlsFiles } from '@headgate/nest-kit';
import type { Server } from 'node:https';
import type { Logger } from 'pino';
import { LOGGER, TLS_FILES } from './tokens.js';

/** Renewed certificates and the old ones are both valid for days or weeks. */
const INTERVAL_MS = 60_000;

/** The certificate of the service. Renewed files are used for new connections within a minute. */
@Injectable()
export class ServiceCertificate implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stop = (): void => undefined;
  private reloadProblem: string | undefined;

  constructor(
    @Inject(TLS_FILES) private readonly files: TlsFiles | undefined,
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Undefined: the service speaks plain HTTP. */
  get current(): LoadedCertificate | undefined {
    return this.files?.current;
  }

  /** Why the files that are there now can't be used. */
  get problem(): string | undefined {
    return this.reloadProblem;
  }

  onApplicationBootstrap(): void {
    if (this.files) this.stop = this.clock.every(INTERVAL_MS, () => this.reload());
  }

  beforeApplicationShutdown(): void {
    this.stop();
  }

  /** Uses the files for new connections if they have changed. If they can't be used, the last pair stays. */
  reload(): void {
    try {
      const renewed = this.files?.reload();
      this.reloadProblem = undefined;
      if (!renewed) return;
      const { cert, key, leaf } = renewed;
      this.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
      this.log.info({ subject: leaf.subject, validTo: leaf.validTo }, 'the certificate was renewed');
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.reloadProblem) this.log.error({ problem: message }, 'the certificate was not renewed');
      this.reloadProblem = message;
    }
  }

  private get server(): Server {
    return this.host.httpAdapter.getHttpServer() as unknown as Server;
  }
}
