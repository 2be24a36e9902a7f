import type * as OpenIdClient from 'openid-client';
import type { Clock } from '@headgate/domain-contracts';
import type { Progress } from './login-progress.js';
import { ProviderError } from './provider-error.js';

export interface OpenIdSettings {
  /** In addresses, and before the logins of its users. */
  readonly id: string;
  /** For the button. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly scopes: readonly string[];
  /** The claim with the login of the user. */
  readonly loginClaim: string;
  /** The claim with the groups of the user; without it, they have none. */
  readonly groupsClaim?: string | undefined;
}

type Client = typeof OpenIdClient;

/** The library, which is loaded with the first login, and the endpoints and keys of the provider. */
interface Connected {
  readonly client: Client;
  readonly config: OpenIdClient.Configuration;
}

/** A user as a provider knows them. */
export interface ProviderUser {
  readonly login: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly idToken: string;
}

/** The claims of a user, from the ID token and, if that has too few, from the provider's answer about the user. */
type Claims = Readonly<Record<string, unknown>>;

const TIMEOUT_SECONDS = 10;
const CLOCK_TOLERANCE_SECONDS = 30;
/** The keys of a provider are read again when one is unknown; its endpoints rarely change. */
const DISCOVERY_MS = 60 * 60_000;
const MAX_GROUPS = 500;
const MAX_NAME_CHARS = 256;

/** A login provider: OpenID Connect with the code flow, PKCE, state and nonce. Connects when a user logs in. */
export class OpenIdProvider {
  private discovered: { readonly at: number; readonly connected: Promise<Connected> } | undefined;

  constructor(
    readonly settings: OpenIdSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * The address of the provider for a browser that logs in, and what to keep for its return.
   * @throws ProviderError
   */
  async begin(redirectUri: string, returnTo: string): Promise<{ url: URL; progress: Progress }> {
    const { client, config } = await this.connect();
    const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: [...new Set(['openid', ...this.settings.scopes])].join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, progress: { provider: this.settings.id, state, nonce, verifier, returnTo } };
  }

  /**
   * The user of a browser that returns from the provider.
   * @param callback the address of the request, whose origin and path are those of the redirect URI
   * @throws ProviderError
   */
  async finish(callback: URL, { state, nonce, verifier }: Progress): Promise<ProviderUser> {
    const { client, config } = await this.connect();
    try {
      const tokens = await client.authorizationCodeGrant(config, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims || tokens.id_token === undefined) throw new ProviderError('refused', 'the answer has no ID token');
      const all = this.isComplete(claims)
        ? claims
        : { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims };
      return { ...this.userOf(all), idToken: tokens.id_token };
    } catch (error) {
      throw toProviderError(client, error);
    }
  }

  /** Where a browser ends its session at the provider; undefined if the provider has no such address. */
  async logoutUrl(idToken: string | undefined, returnTo: string): Promise<URL | undefined> {
    const { client, config } = await this.connect();
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
    return client.buildEndSessionUrl(config, {
      post_logout_redirect_uri: returnTo,
      ...(idToken === undefined ? {} : { id_token_hint: idToken }),
    });
  }

  private isComplete(claims: Claims): boolean {
    const { loginClaim, groupsClaim } = this.settings;
    return [loginClaim, groupsClaim].every((claim) => claim === undefined || claim in claims);
  }

  private userOf(claims: Claims): Omit<ProviderUser, 'idToken'> {
    const { id, loginClaim, groupsClaim } = this.settings;
    const login = claims[loginClaim];
    if (typeof login !== 'string' || !/^[^\s\p{C},:][^\s\p{C},]{0,254}$/u.test(login))
      throw new ProviderError('claims', `the claim ${loginClaim} is missing or is not a login`);
    if (loginClaim === 'email' && claims['email_verified'] !== true)
      throw new ProviderError('claims', 'the provider has not verified the email address');
    const name = typeof claims['name'] === 'string' ? claims['name'].slice(0, MAX_NAME_CHARS) : '';
    const groups = groupsClaim === undefined ? [] : [claims[groupsClaim] ?? []].flat();
    return {
      // No provider can report the login of an account of the service, or of another provider.
      login: `${id}:${login}`,
      name,
      groups: groups.filter((group) => typeof group === 'string' && group !== '').slice(0, MAX_GROUPS) as string[],
    };
  }

  /** A failure is not kept. */
  private connect(): Promise<Connected> {
    const now = this.clock.now();
    if (this.discovered && now - this.discovered.at < DISCOVERY_MS) return this.discovered.connected;
    const connected = this.discover();
    this.discovered = { at: now, connected };
    connected.catch(() => (this.discovered = undefined));
    return connected;
  }

  private async discover(): Promise<Connected> {
    const client = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.settings;
    const url = new URL(issuer);
    // The configuration accepts HTTP for this machine only.
    const insecure = url.protocol === 'http:' ? [client.allowInsecureRequests] : [];
    try {
      const config = await client.discovery(
        url,
        clientId,
        { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
        clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
        { timeout: TIMEOUT_SECONDS, execute: [...insecure, client.enableNonRepudiationChecks] },
      );
      return { client, config };
    } catch (error) {
      throw toProviderError(client, error);
    }
  }
}

/** The names of what `fetch` throws. */
const NETWORK_ERRORS = ['TypeError', 'TimeoutError', 'AbortError'];

function toProviderError(client: Client, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof client.AuthorizationResponseError)
    return new ProviderError('canceled', `the provider answered ${error.error}`, { cause: error });
  if (error instanceof client.ResponseBodyError)
    return new ProviderError('refused', `the provider answered ${error.error}`, { cause: error });
  const { code, name, message, cause } = error as Error & { code?: string };
  const isNetwork = [name, (cause as Error | undefined)?.name].some((one) => NETWORK_ERRORS.includes(one ?? ''));
  // An answer with another status, such as that of a proxy whose provider is down.
  if (
    isNetwork ||
    code === 'OAUTH_TIMEOUT' ||
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' ||
    code === 'OAUTH_RESPONSE_IS_NOT_JSON'
  )
    return new ProviderError('unreachable', `the provider does not answer as a provider (${code ?? name})`, {
      cause: error,
    });
  return new ProviderError('refused', `the answer of the provider is not valid: ${message}`, { cause: error });
}
