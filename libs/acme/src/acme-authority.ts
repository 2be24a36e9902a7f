import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request, type RequestOptions } from 'node:https';
import type { AcmeFiles } from './acme-files.js';
import type { ChallengeAnswers } from './challenge-answers.js';

export interface AcmeSettings {
  /** The https URL of the directory of the authority. */
  readonly directory: string;
  /** To which the authority sends warnings. */
  readonly email?: string | undefined;
  /** The names of the certificate. */
  readonly domains: readonly string[];
  readonly challenge: 'http-01' | 'tls-alpn-01';
  /** The account at an authority that knows its customers; the key is Base64url. */
  readonly externalAccount?: { readonly keyId: string; readonly key: string } | undefined;
  /** Certificates of authorities in PEM, instead of the usual ones, for the directory of an own authority. */
  readonly trusted?: string | undefined;
}

/** A certificate with its chain, and its key, both as PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Issues certificates for the names of the service. */
export interface CertificateAuthority {
  /** @throws AuthorityError */
  issue(): Promise<IssuedCertificate>;
}

/** Why a certificate was not issued, in one line, without keys. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError';

  constructor(
    message: string,
    /** How long the authority wants to be left alone, in milliseconds; 0 if it has not said so. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 1_048_576;
const MAX_MESSAGE_CHARS = 400;
const SECOND_MS = 1000;
const NO_ACCOUNT = 'urn:ietf:params:acme:error:accountDoesNotExist';

/** An authority that speaks ACME (RFC 8555), over https only. The library is loaded for an order. */
export class AcmeAuthority implements CertificateAuthority {
  constructor(
    private readonly settings: AcmeSettings,
    private readonly files: AcmeFiles,
    private readonly answers: ChallengeAnswers,
    /** The shortest time between two questions about an order. */
    private readonly pollMs = SECOND_MS,
  ) {}

  async issue(): Promise<IssuedCertificate> {
    const { default: acme } = await import('acme-client');
    const { directory, domains, challenge: kind } = this.settings;
    const limits = prepare(acme.axios, this.settings.trusted);
    try {
      const client = await this.logIn(acme);
      // A new key for each certificate.
      const [key, csr] = await acme.crypto.createCsr(
        { altNames: [...domains] },
        await acme.crypto.createPrivateEcdsaKey(),
      );
      const remove = new Map<string, () => void>();
      const certificate = await client.auto({
        csr,
        termsOfServiceAgreed: true,
        skipChallengeVerification: true,
        challengePriority: [kind],
        challengeCreateFn: async (authorization, challenge, answer) => {
          const domain = authorization.identifier.value;
          if (challenge.type !== kind) throw new Error(`The authority offers no ${kind} challenge for ${domain}.`);
          if (kind === 'http-01') {
            remove.set(challenge.url, this.answers.addToken(domain, challenge.token, answer));
          } else {
            const ecdsa = await acme.crypto.createPrivateEcdsaKey();
            const [own, cert] = await acme.crypto.createAlpnCertificate(authorization, answer, ecdsa);
            remove.set(challenge.url, this.answers.addCertificate(domain, { cert: String(cert), key: String(own) }));
          }
        },
        challengeRemoveFn: async (_authorization, challenge) => remove.get(challenge.url)?.(),
      });
      return { certificate, key: String(key) };
    } catch (error) {
      // The next attempt registers another one.
      if (limits.problem === NO_ACCOUNT) this.files.deleteAccount(directory);
      throw new AuthorityError(oneLine(limits.failure ?? error), limits.retryAfterMs);
    } finally {
      limits.end();
    }
  }

  /** A client of the account, which is registered first if there is none. */
  private async logIn(acme: Acme): Promise<Client> {
    const { directory, email, externalAccount } = this.settings;
    const known = this.files.readAccount(directory);
    const key = known?.key ?? String(await acme.crypto.createPrivateEcdsaKey());
    const client = new acme.Client({
      directoryUrl: directory,
      accountKey: key,
      backoffAttempts: 15,
      backoffMin: this.pollMs,
      backoffMax: 10 * this.pollMs,
      ...(known && { accountUrl: known.url }),
      ...(externalAccount && { externalAccountBinding: { kid: externalAccount.keyId, hmacKey: externalAccount.key } }),
    });
    const contact = email === undefined ? [] : [`mailto:${email}`];
    if (!known) await client.createAccount({ termsOfServiceAgreed: true, ...(email !== undefined && { contact }) });
    else if (known.email !== email) await client.updateAccount({ contact });
    else return client;
    this.files.writeAccount(directory, { key, url: client.getAccountUrl(), email });
    return client;
  }
}

type Acme = typeof import('acme-client');
type Axios = Acme['axios'];
type Client = InstanceType<Acme['Client']>;

interface Limits {
  retryAfterMs: number;
  /** The type of the last problem that the authority has reported. */
  problem?: unknown;
  /** The library reports another error for a connection that has failed. */
  failure?: Error;
  end(): void;
}

/** Sets the limits of the library's HTTP client for one order. */
function prepare(axios: Axios, trusted: string | undefined): Limits {
  const agent = new Agent({ keepAlive: true, minVersion: 'TLSv1.2', ...(trusted !== undefined && { ca: trusted }) });
  const limits: Limits = { retryAfterMs: 0, end: () => undefined };
  Object.assign(axios.defaults, {
    httpsAgent: agent,
    transport: { request: send.bind(undefined, limits) },
    proxy: false,
    timeout: TIMEOUT_MS,
    maxRedirects: 0,
    maxContentLength: MAX_ANSWER_BYTES,
    // The library would wait for as long as the authority says, and try the same order again.
    acmeSettings: { retryMaxAttempts: 0 },
  });
  axios.defaults.headers.common['User-Agent'] = 'headgate';
  const responses = axios.interceptors.response.use((response) => {
    if (response.status === 429 || response.status === 503)
      limits.retryAfterMs = millisecondsOf(String(response.headers['retry-after'] ?? ''));
    if (response.status >= 400) limits.problem = (response.data as { type?: unknown } | undefined)?.type;
    return response;
  });
  limits.end = () => {
    axios.interceptors.response.eject(responses);
    agent.destroy();
  };
  return limits;
}

/** The addresses in its answers are chosen by the authority. */
function send(limits: Limits, options: RequestOptions, onAnswer: (answer: IncomingMessage) => void): ClientRequest {
  if (options.protocol !== 'https:') {
    limits.failure = new Error('The authority has named an address without https.');
    throw limits.failure;
  }
  const sent = request(options, onAnswer);
  sent.once('error', (error) => (limits.failure = error)).once('timeout', () => (limits.failure = noAnswer()));
  return sent;
}

const noAnswer = (): Error => new Error(`The authority has not answered within ${TIMEOUT_MS / SECOND_MS} seconds.`);

/** Seconds or a date. Source: RFC 9110, 10.2.3. */
function millisecondsOf(retryAfter: string): number {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND_MS : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Errors quote the answers of the authority. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const clean = text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim();
  return (clean || 'The authority has not said why.').slice(0, MAX_MESSAGE_CHARS);
}
