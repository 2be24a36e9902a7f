import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '@headgate/domain-contracts';
import { AuthorityError, type CertificateAuthority, type IssuedCertificate } from './acme-authority.js';
import type { AcmeFiles, RenewalState } from './acme-files.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FIRST_RETRY_MS = 10 * MINUTE_MS;
const MAX_RETRY_MS = DAY_MS;
/** An authority that asks for more could keep the certificate from ever being renewed. */
const MAX_RETRY_AFTER_MS = 7 * DAY_MS;
/** Also after a certificate that is due at once, because it was issued for a short time or in the past. */
const MIN_INTERVAL_MS = 6 * HOUR_MS;
/** Timers can't be longer than 24 days, and the clock may be changed. */
const MAX_TIMER_MS = HOUR_MS;
/** Of the lifetime. */
const RENEWED_AFTER = 2 / 3;
const JITTER = 0.05;

export interface CertificateRenewalDeps {
  readonly authority: CertificateAuthority;
  readonly files: AcmeFiles;
  readonly domains: readonly string[];
  /** A text that differs for other settings. It is stored, so it must have no secrets. */
  readonly settings: string;
  readonly clock: Clock;
  /** Uses the new file. */
  readonly install: () => void;
  readonly report: (event: RenewalEvent) => void;
  /** 0 to 1. */
  readonly random?: () => number;
}

export type RenewalEvent =
  | { readonly kind: 'renewed'; readonly validTo: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly failures: number; readonly nextAttemptAt: string };

/**
 * Renews the certificate after two thirds of its lifetime, at a moment that depends on the certificate, so that many
 * services do not do so at once. After a failure, the certificate stays, and the next attempt is after 10 minutes, then
 * twice as long up to a day, also over restarts.
 */
export class CertificateRenewal {
  private cancel = (): void => undefined;
  private isRunning = false;
  private isStopped = false;

  constructor(private readonly deps: CertificateRenewalDeps) {}

  start(): void {
    this.isStopped = false;
    this.check();
  }

  /** A running order is left to itself; its result is not used. */
  stop(): void {
    this.isStopped = true;
    this.cancel();
  }

  /** Why the last attempt has failed; undefined after a success. */
  get failure(): RenewalState | undefined {
    return this.state && this.state.failures > 0 ? this.state : undefined;
  }

  /** When the next certificate is requested, in milliseconds since the epoch. */
  get dueAt(): number {
    return Math.max(this.renewalTime(), Date.parse(this.state?.nextAttemptAt ?? '') || 0);
  }

  private get state(): RenewalState | undefined {
    const state = this.deps.files.readState();
    return state?.settings === this.deps.settings ? state : undefined;
  }

  private check(): void {
    this.cancel();
    if (this.isStopped || this.isRunning) return;
    const leftMs = this.dueAt - this.deps.clock.now();
    if (leftMs <= 0) void this.renew();
    else this.cancel = this.deps.clock.after(Math.min(leftMs, MAX_TIMER_MS), () => this.check());
  }

  /** Requests a certificate now. */
  async renew(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    const { authority, files, clock, install, report } = this.deps;
    const failures = (this.failure?.failures ?? 0) + 1;
    try {
      // Before the attempt: a process that is killed again and again must not exhaust the limits of the authority.
      this.postpone(failures, 'The last attempt was interrupted.', 0);
      const issued = await authority.issue();
      if (this.isStopped) return;
      const leaf = this.expectUsable(issued);
      files.writeCertificate(`${issued.key.trim()}\n${issued.certificate.trim()}\n`);
      this.store({ failures: 0, nextAttemptAt: clock.now() + MIN_INTERVAL_MS, problem: '' });
      install();
      report({ kind: 'renewed', validTo: leaf.validTo });
    } catch (error) {
      const { message: problem } = error as Error;
      const retryAfterMs = error instanceof AuthorityError ? error.retryAfterMs : 0;
      const nextAttemptAt = this.postpone(failures, problem, retryAfterMs);
      report({ kind: 'failed', problem, failures, nextAttemptAt });
    } finally {
      this.isRunning = false;
      this.check();
    }
  }

  private postpone(failures: number, problem: string, retryAfterMs: number): string {
    const { clock, random = Math.random } = this.deps;
    const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    const waitMs = Math.max(backoffMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
    return this.store({ failures, problem, nextAttemptAt: clock.now() + waitMs * (1 + random() / 5) });
  }

  private store(state: { failures: number; problem: string; nextAttemptAt: number }): string {
    const nextAttemptAt = new Date(state.nextAttemptAt).toISOString();
    try {
      this.deps.files.writeState({ ...state, nextAttemptAt, settings: this.deps.settings });
    } catch {
      // A full disk must not end the renewal; the certificate itself can't be written then either.
    }
    return nextAttemptAt;
  }

  private renewalTime(): number {
    const leaf = this.currentLeaf();
    if (!leaf || !isFor(leaf, this.deps.domains)) return 0;
    const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    const share = createHash('sha256').update(leaf.raw).digest().readUInt32BE() / 2 ** 32;
    return from + (to - from) * (RENEWED_AFTER - JITTER * share);
  }

  /** @returns undefined for the placeholder, or a file that is damaged */
  private currentLeaf(): X509Certificate | undefined {
    try {
      const leaf = new X509Certificate(this.deps.files.readCertificate() ?? '');
      return leaf.issuer === leaf.subject ? undefined : leaf;
    } catch {
      return undefined;
    }
  }

  /** An authority may issue something else than was requested. */
  private expectUsable({ certificate, key }: IssuedCertificate): X509Certificate {
    let leaf: X509Certificate;
    try {
      leaf = new X509Certificate(certificate);
    } catch {
      throw new AuthorityError('The authority has sent no certificate.');
    }
    const now = this.deps.clock.now();
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      throw new AuthorityError('The authority has sent a certificate for another key.');
    if (!isFor(leaf, this.deps.domains))
      throw new AuthorityError(
        `The authority has sent a certificate for other names: ${leaf.subjectAltName ?? 'none'}`,
      );
    if (Date.parse(leaf.validTo) <= now) throw new AuthorityError('The authority has sent an expired certificate.');
    return leaf;
  }
}

const isFor = (leaf: X509Certificate, domains: readonly string[]): boolean =>
  domains.every((domain) => leaf.checkHost(domain, { subject: 'never', wildcards: false }) !== undefined);
