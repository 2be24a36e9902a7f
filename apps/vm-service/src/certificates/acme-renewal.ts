import { createHash } from 'node:crypto';
import type { Server } from 'node:net';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  AcmeAuthority,
  AlpnResponder,
  CertificateRenewal,
  ChallengeAnswers,
  type RenewalEvent,
  type RenewalState,
} from '@headgate/acme';
import { Clock } from '@headgate/domain-contracts';
import type { Logger } from 'pino';
import type { OpenedCertificate } from '../platform/open-certificate.js';
import { ServiceCertificate } from '../platform/service-certificate.js';
import { ACME, LOGGER } from '../platform/tokens.js';

/** Requests and renews the certificate of the service, if the configuration has an authority. */
@Injectable()
export class AcmeRenewal implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private renewal: CertificateRenewal | undefined;
  private responder: AlpnResponder | undefined;

  constructor(
    @Inject(ACME) private readonly acme: OpenedCertificate['acme'],
    private readonly answers: ChallengeAnswers,
    private readonly certificate: ServiceCertificate,
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Whether the service requests its certificate itself. */
  get isUsed(): boolean {
    return this.acme !== undefined;
  }

  /** Why the last attempt has failed; undefined after a success. */
  get failure(): RenewalState | undefined {
    return this.renewal?.failure;
  }

  onApplicationBootstrap(): void {
    if (!this.acme) return;
    const { files, settings } = this.acme;
    this.responder = new AlpnResponder(
      this.host.httpAdapter.getHttpServer() as unknown as Server,
      this.answers,
      this.clock,
    );
    const { directory, domains, challenge, email, externalAccount } = settings;
    const identity = JSON.stringify([directory, domains, challenge, email, externalAccount?.keyId]);
    this.renewal = new CertificateRenewal({
      authority: new AcmeAuthority(settings, files, this.answers),
      files,
      domains,
      settings: createHash('sha256').update(identity).digest('hex'),
      clock: this.clock,
      install: () => this.certificate.reload(),
      report: (event) => this.report(event),
    });
    this.renewal.start();
  }

  beforeApplicationShutdown(): void {
    this.renewal?.stop();
    this.responder?.stop();
  }

  private report({ kind, ...event }: RenewalEvent): void {
    if (kind === 'renewed') this.log.info(event, 'the authority has issued a certificate');
    else this.log.error(event, 'the authority has issued no certificate');
  }
}
