/** A request that the listener refused, with its sentence. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The operator's API. The token is in a header: never in a URL, and never in a cookie, which other pages could use. */
export class Client {
  /** @param onSignedOut the token is not accepted any more, such as after it was replaced */
  constructor(
    private readonly token: string,
    private readonly onSignedOut: () => void = () => undefined,
  ) {}

  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    return this.answer<Answer>('GET', path, undefined, signal);
  }

  send<Answer>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer> {
    return this.answer<Answer>(method, path, body);
  }

  /** @throws ApiError; a TypeError of fetch when the listener does not answer */
  async open(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const response = await fetch(path, {
      method,
      headers: {
        ...(this.token !== '' && { Authorization: `Bearer ${this.token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'omit',
      redirect: 'error',
    });
    if (response.ok) return response;
    if (response.status === 401) this.onSignedOut();
    const { error } = (await response.json().catch(() => ({}))) as { error?: string };
    throw new ApiError(response.status, error ?? `The listener answered with status ${response.status}.`);
  }

  private async answer<Answer>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
    return (await this.open(method, path, body, signal)).json() as Promise<Answer>;
  }
}

/** A sentence about a failure. */
export const sentenceOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'The listener does not answer.';

export const keyed = (path: string, key: string): string => `${path}?key=${encodeURIComponent(key)}`;
