import { t } from '@lingui/core/macro';
import type { ErrorView } from '@headgate/api-contracts';
import { readableSizes } from '../quantity/quantity.js';

/** An error response with the service's own message. Status 0 means that the service did not respond. */
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

  /** Whether the message is a sentence of the service, which is English, and not of the page. */
  get isOfService(): boolean {
    return this.status !== 0 && this.code !== 'UNKNOWN';
  }

  static unreachable(): ApiError {
    return new ApiError(0, 'SERVICE_UNREACHABLE', t`The service is unreachable. Check that it is running.`);
  }

  /** An error body is `{error, code, details}`; a proxy in between may respond with something else. */
  static async from(response: Response): Promise<ApiError> {
    const body: Partial<ErrorView> = await response.json().catch(() => ({}));
    const message =
      typeof body.error === 'string' ? body.error : t`The service responded with status ${response.status}.`;
    return new ApiError(response.status, body.code ?? 'UNKNOWN', message, body.details);
  }
}

/** The message to show for any thrown value, with its sizes as everywhere else. */
export const messageOf = (error: unknown): string =>
  readableSizes(error instanceof Error ? error.message : String(error));
