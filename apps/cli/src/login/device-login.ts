import { setTimeout as delay } from 'node:timers/promises';
import type { BegunDeviceLoginView, DevicePollView } from '@headgate/api-contracts';
import { ClientError } from '../client/client-error.js';
import type { HttpClient } from '../client/http-client.js';
import { EXIT_CODES } from '../exit-codes.js';
import { interruption } from '../terminal/prompt.js';

const PATH = '/api/ext/login/device';
const MIN_SECONDS = 0.05;
const [DEFAULT_INTERVAL, MAX_INTERVAL] = [5, 60];
const [DEFAULT_LIFETIME, MAX_LIFETIME] = [600, 3600];

/** What the program asks for. */
export interface DeviceLoginRequest {
  readonly machine: string;
  readonly actions?: readonly string[];
  readonly days?: number;
}

/** The token that a user has approved. */
export interface ApprovedToken {
  readonly token: string;
  readonly name: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface DeviceLoginDeps {
  readonly http: HttpClient;
  readonly interrupted: AbortSignal;
  /** Called when the service can't be reached, which does not end the login. */
  readonly onLost?: (error: ClientError) => void;
  /** @throws when it is interrupted */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** A login without a browser: a user approves it on the page of the service, with the code that is shown here. */
export class DeviceLogin {
  private constructor(
    private readonly deps: DeviceLoginDeps,
    private readonly begun: BegunDeviceLoginView,
  ) {}

  /** @throws ClientError, also for an answer that is not one of the service */
  static async begin(request: DeviceLoginRequest, deps: DeviceLoginDeps): Promise<DeviceLogin> {
    const { body } = await deps.http.json<BegunDeviceLoginView>('POST', PATH, { body: request, isUnkept: true });
    const { deviceCode, userCode, page } = body;
    const isComplete = [deviceCode, userCode, page].every((text) => typeof text === 'string' && text.length <= 200);
    if (!isComplete) throw strange();
    return new DeviceLogin(deps, body);
  }

  /** The code that the user types. */
  get userCode(): string {
    return this.begun.userCode;
  }

  /** The address of the page, on the server that was chosen, whatever the answer says. */
  get pageUrl(): string {
    const { url } = this.deps.http.access;
    return new URL(`.${this.begun.page.replace(/^\/?/, '/')}`, url).href;
  }

  /**
   * Asks for the token until the user has decided.
   * @throws ClientError LOGIN_DENIED, LOGIN_EXPIRED, INTERRUPTED, and errors of the service other than its absence
   */
  async approval(): Promise<ApprovedToken> {
    const { wait = (ms, signal) => delay(ms, undefined, { signal }), interrupted } = this.deps;
    let seconds = secondsOf(this.begun.intervalSeconds, DEFAULT_INTERVAL, MAX_INTERVAL);
    let leftSeconds = secondsOf(this.begun.expiresInSeconds, DEFAULT_LIFETIME, MAX_LIFETIME);
    while (leftSeconds > 0) {
      await wait(seconds * 1000, interrupted).catch(() => undefined);
      if (interrupted.aborted) throw interruption('Interrupted. Nothing was stored.');
      leftSeconds -= seconds;
      const poll = await this.poll();
      if (poll?.status === 'denied')
        throw new ClientError(
          'LOGIN_DENIED',
          'The login was denied on the page. Nothing was stored.',
          EXIT_CODES.refused,
        );
      if (poll?.status === 'expired') break;
      if (poll?.status === 'approved') return approved(poll);
      seconds = secondsOf(poll?.intervalSeconds, seconds, MAX_INTERVAL);
    }
    throw new ClientError(
      'LOGIN_EXPIRED',
      'The code is not valid any more: it was not approved in time, or was used. Nothing was stored; run the login again.',
      EXIT_CODES.refused,
    );
  }

  /** @returns undefined while the service can't be reached */
  private async poll(): Promise<DevicePollView | undefined> {
    const { http, onLost } = this.deps;
    const { deviceCode } = this.begun;
    try {
      const { body } = await http.json<DevicePollView>('POST', `${PATH}/token`, {
        body: { deviceCode },
        isUnkept: true,
      });
      return body;
    } catch (error) {
      if (!(error instanceof ClientError) || error.exitCode !== EXIT_CODES.unreachable) throw error;
      onLost?.(error);
      return undefined;
    }
  }
}

function approved({ token, name, expiresAt }: DevicePollView): ApprovedToken {
  if ([token, name, expiresAt].every((text) => typeof text === 'string'))
    return { token: token as string, name: name as string, expiresAt: expiresAt as string };
  throw strange();
}

const strange = (): ClientError =>
  new ClientError('NOT_A_SERVICE', 'The answer about the login is not one of Headgate.', EXIT_CODES.failed);

/** A number of seconds that the service states, unless it is none. */
const secondsOf = (value: unknown, fallback: number, max: number): number =>
  typeof value === 'number' && value > 0 ? Math.min(Math.max(value, MIN_SECONDS), max) : fallback;
