import type { ErrorView } from '@headgate/api-contracts';
import { EXIT_CODES } from '../exit-codes.js';
import { ClientError, exitCodeOf } from './client-error.js';
import { addressOf } from './server-address.js';

/** An answer with a status other than 2xx. */
export interface RefusedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly location?: string;
  readonly text: string;
}

/**
 * The error of an answer: that of the service, or a sentence about an answer that is not one of the service.
 * @param what the method and the path, such as `GET /api/vms`
 */
export function answerError(url: URL, what: string, answer: RefusedAnswer): ClientError {
  const { status, location } = answer;
  if (status >= 300 && status < 400)
    return new ClientError(
      'REDIRECTED',
      `${addressOf(url)} redirects to ${location ?? 'another address'}. Redirects are not followed, because the token would go along. If you trust that address, use it as the server.`,
      EXIT_CODES.failed,
    );
  const body = errorBody(answer);
  if (!body) return foreignAnswer(url, answer);
  if (body.code === 'PATH_NOT_FOUND')
    return new ClientError(
      body.code,
      `The service at ${addressOf(url)} does not have ${what}. It is older than this program: update it, or use the headgate of its version.`,
      exitCodeOf(status, body.code),
    );
  return new ClientError(body.code, body.error, exitCodeOf(status, body.code), body.details);
}

function errorBody({ contentType, text }: RefusedAnswer): ErrorView | undefined {
  if (!isJson(contentType)) return undefined;
  try {
    const body: Partial<ErrorView> | null = JSON.parse(text);
    return typeof body?.error === 'string' && typeof body.code === 'string' ? (body as ErrorView) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a content type is JSON, with any parameters. */
export const isJson = (contentType: string): boolean => /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType);

/** An answer of something in between, such as a proxy, or of another program. */
export function foreignAnswer(url: URL, { status, contentType }: Omit<RefusedAnswer, 'text'>): ClientError {
  const form = contentType === '' ? 'an answer without a content type' : (contentType.split(';')[0] ?? '');
  const exitCode =
    status === 401 || status === 403 ? EXIT_CODES.refused : status >= 502 ? EXIT_CODES.unreachable : EXIT_CODES.failed;
  return new ClientError(
    'NOT_A_SERVICE',
    `${addressOf(url)} answers with status ${status} and ${form} instead of JSON. It is not a service of Headgate, or a proxy in front of it answers.`,
    exitCode,
  );
}
