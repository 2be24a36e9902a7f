import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@headgate/domain-contracts';
import type { ContextCheck } from '@headgate/doctor';
import { ListenAddress, TrustedProxies } from '@headgate/nest-kit';
import type { Settings } from '../config/load-config.js';
import { AcmeRenewal } from '../certificates/acme-renewal.js';
import { ServiceCertificate } from '../platform/service-certificate.js';
import { SETTINGS } from '../platform/tokens.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Programs that renew certificates do so earlier. */
const RENEWAL_DAYS = 14;

const CHECK = { name: 'listener', context: 'service/listener', fixable: false } as const;
const OK = { ...CHECK, status: 'ok', remedy: '' } as const;
const RENEW = 'Replace the files of tls.certificate and tls.key. The service reads them again within a minute.';
const AUTHORITY =
  'The authority must reach the names of tls.acme.domains on port 80 (http-01) or 443 (tls-alpn-01). The log has each attempt.';

/** The doctor's check of the port of the service: its encryption and its certificate. */
@Injectable()
export class ListenerCheck {
  constructor(
    @Inject(SETTINGS)
    private readonly settings: Pick<Settings, 'listen' | 'trustedProxies' | 'admins' | 'roles' | 'login'>,
    private readonly certificate: ServiceCertificate,
    private readonly clock: Clock,
    private readonly acme: AcmeRenewal,
  ) {}

  run(): ContextCheck {
    return this.certificate.current ? this.checkCertificate(this.certificate.current.leaf) : this.checkAddress();
  }

  private checkAddress(): ContextCheck {
    const { listen } = this.settings;
    if (ListenAddress.parse(listen).isLoopback)
      return { ...OK, message: `The service listens on ${listen}, which only this machine reaches.` };
    if (this.hasOtherProxies()) return { ...OK, message: `The service listens on ${listen} for the trusted proxies.` };
    return {
      ...CHECK,
      status: 'warning',
      title: 'The service is on the network without encryption',
      message: `The service listens on ${listen} without TLS. Others on the network can read API tokens and consoles, and change requests.`,
      remedy:
        'Set tls.certificate and tls.key, or listen on 127.0.0.1 behind a proxy that speaks TLS. If the proxy is on another machine, name it in trustedProxies. With --login, users log in.',
    };
  }

  private checkCertificate(leaf: {
    validTo: string;
    subjectAltName?: string | undefined;
    subject: string;
  }): ContextCheck {
    const days = Math.floor((Date.parse(leaf.validTo) - this.clock.now()) / DAY_MS);
    const names = leaf.subjectAltName ?? leaf.subject;
    const until = new Date(leaf.validTo).toISOString().slice(0, 10);
    const { problem } = this.certificate;
    const { failure } = this.acme;
    if (failure)
      return {
        ...CHECK,
        status: days < 0 ? 'error' : 'warning',
        title: 'The authority has issued no certificate',
        message: `${failure.problem} The next attempt is at ${failure.nextAttemptAt}. The certificate for ${names} is valid until ${until}.`,
        remedy: AUTHORITY,
      };
    if (days < 0 && this.acme.isUsed)
      return {
        ...CHECK,
        status: 'warning',
        title: 'The service waits for its certificate',
        message: `The authority has not issued the certificate for ${names} yet. Browsers refuse the connection.`,
        remedy: AUTHORITY,
      };
    if (days < 0)
      return {
        ...CHECK,
        status: 'error',
        title: 'The certificate of the service has expired',
        message: `The certificate for ${names} expired on ${until}. Browsers refuse the connection.`,
        remedy: RENEW,
      };
    if (problem !== undefined)
      return {
        ...CHECK,
        status: 'warning',
        title: 'The renewed certificate of the service is not used',
        message: `${problem}. The service still uses the certificate that is valid until ${until}.`,
        remedy: RENEW,
      };
    if (days < RENEWAL_DAYS)
      return {
        ...CHECK,
        status: 'warning',
        title: 'The certificate of the service expires soon',
        message: `The certificate for ${names} is valid until ${until}.`,
        remedy: RENEW,
      };
    if (this.isForEveryone())
      return {
        ...CHECK,
        status: 'warning',
        title: 'Everyone on the network is an administrator',
        message: `The service listens on ${this.settings.listen}, and everyone who reaches it may do everything.`,
        remedy: 'Let users log in (--login, or login in the configuration), or let a trusted proxy identify them.',
      };
    return { ...OK, message: `The service speaks TLS with a certificate for ${names}, which is valid until ${until}.` };
  }

  private isForEveryone(): boolean {
    const { listen, admins, roles, login } = this.settings;
    if (ListenAddress.parse(listen).isLoopback || this.hasOtherProxies()) return false;
    return login === undefined && admins.length === 0 && roles.length === 0;
  }

  private hasOtherProxies(): boolean {
    const loopback: readonly string[] = TrustedProxies.loopback;
    return this.settings.trustedProxies.some((proxy) => !loopback.includes(proxy));
  }
}
