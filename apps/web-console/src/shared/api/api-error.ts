import type { ErrorView } from '@headgate/api-contracts';

/** What the service refused, in its own words; or, with status 0, that nothing answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
  }

  static unreachable(): ApiError {
    return new ApiError(0, 'SERVICE_UNREACHABLE', "The service can't be reached. Is it still running?");
  }

  /** An error's body is `{error, code, details}`; a proxy in between may answer with something else. */
  static async from(response: Response): Promise<ApiError> {
    const body: Partial<ErrorView> = await response.json().catch(() => ({}));
    const message =
      typeof body.error === 'string' ? body.error : `The service answered with status ${response.status}.`;
    return new ApiError(response.status, body.code ?? 'UNKNOWN', message, body.details);
  }
}

/** The sentence to show for whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
