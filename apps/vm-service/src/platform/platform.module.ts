import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { ChallengeAnswers } from '@headgate/acme';
import { Clock, SystemClock } from '@headgate/domain-contracts';
import { ProcPeerUsers } from './peer-users.js';
import { DomainErrorFilter } from './domain-error.filter.js';
import { HttpListener } from './http-listener.js';
import { ACME, CONTEXTS, LOGGER, PAGE_DIR, PEER_USERS, SETTINGS, TLS_FILES, type OpenedDeps } from './tokens.js';
import { ServiceCertificate } from './service-certificate.js';
import { WireValidationPipe } from './wire-validation.pipe.js';

/**
 * The inputs of the application, the clock and the edge of every route. Nest runs the start hooks of a global module
 * first: the listener is open before anything else is.
 */
@Global()
@Module({})
export class PlatformModule {
  static forRoot({
    settings,
    contexts,
    log,
    pageDir,
    tls,
    acme,
    peerUsers = new ProcPeerUsers(),
  }: OpenedDeps): DynamicModule {
    return {
      module: PlatformModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: CONTEXTS, useValue: contexts },
        { provide: LOGGER, useValue: log },
        { provide: PAGE_DIR, useValue: pageDir },
        { provide: PEER_USERS, useValue: peerUsers },
        { provide: Clock, useClass: SystemClock },
        { provide: TLS_FILES, useValue: tls },
        { provide: ACME, useValue: acme },
        { provide: ChallengeAnswers, useFactory: () => new ChallengeAnswers() },
        HttpListener,
        ServiceCertificate,
        { provide: APP_PIPE, useClass: WireValidationPipe },
        { provide: APP_FILTER, useClass: DomainErrorFilter },
      ],
      exports: [
        ACME,
        ChallengeAnswers,
        HttpListener,
        SETTINGS,
        CONTEXTS,
        LOGGER,
        PAGE_DIR,
        PEER_USERS,
        Clock,
        ServiceCertificate,
      ],
    };
  }
}
