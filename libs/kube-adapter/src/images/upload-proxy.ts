import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { DomainError, messageOf, plainText, type Clock } from '@headgate/domain-contracts';

/** The address of CDI's upload proxy. */
export interface ProxyAddress {
  readonly url: URL;
  /** Further accepted certificate authorities, in PEM. */
  readonly ca?: string;
}

export interface ProxyUpload {
  readonly proxy: ProxyAddress;
  /** Opens the content, once per attempt. */
  readonly open: () => Readable;
  /** The length of the content, if it is known. */
  readonly bytes?: number;
  /** How many times the content can be sent, because CDI can't continue an upload. Default 4. */
  readonly maxAttempts?: number;
  /** Receives the number of bytes that were sent in this attempt. */
  readonly onBytes: (sent: number) => void;
  readonly signal: AbortSignal;
  /** Requests a token, which is valid for five minutes and has to be valid when an attempt begins. */
  readonly requestToken: () => Promise<string>;
}

interface Attempt extends ProxyUpload {
  readonly path: string;
  readonly token: string;
}

interface ProxyAnswer {
  readonly status: number;
  readonly text: string;
}

/** Answers as soon as the file was received, and converts it afterwards. */
const ASYNC_PATH = '/v1beta1/upload-async';
/** Of releases that do not have it. Answers after the conversion. */
const SYNC_PATH = '/v1beta1/upload';
const MAX_ATTEMPTS = 4;
/** The pause after the first attempt; each further one is twice as long. */
const FIRST_PAUSE_MS = 2_000;
/** How long the proxy may accept no byte. */
const STALL_TIMEOUT_MS = 60_000;
/** How long the conversion may take. */
const ANSWER_TIMEOUT_MS = 60 * 60_000;
const MAX_ANSWER_BYTES = 4096;
const MAX_QUOTE_LENGTH = 200;

/** A refusal that may be temporary. */
class Unready extends DomainError {}

/**
 * Sends the content of a disk to CDI's upload proxy, which passes it to the upload server of a DataVolume. The content
 * is read as fast as the proxy accepts it.
 * @throws DomainError BACKEND_UNREACHABLE, BACKEND_TIMEOUT, BACKEND_FAILED, BACKEND_FORBIDDEN, REJECTED_BY_BACKEND
 */
export async function sendToUploadProxy(clock: Clock, upload: ProxyUpload): Promise<void> {
  const { maxAttempts = MAX_ATTEMPTS } = upload;
  let path = ASYNC_PATH;
  for (let attempt = 1; ; attempt++) {
    upload.signal.throwIfAborted();
    try {
      const token = await upload.requestToken();
      const answer = await post(clock, { ...upload, path, token });
      if (answer.status === 404 && path === ASYNC_PATH && maxAttempts > 1) {
        path = SYNC_PATH;
        continue;
      }
      if (answer.status >= 200 && answer.status < 300) return;
      throw refusal(upload.proxy.url, answer);
    } catch (error) {
      upload.signal.throwIfAborted();
      if (!(error instanceof Unready) || attempt >= maxAttempts) throw error;
      await clock.delay(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}

function post(clock: Clock, { proxy, path, token, open, bytes, onBytes, signal }: Attempt): Promise<ProxyAnswer> {
  const { url, ca } = proxy;
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const source = open();
    let cancelTimer = (): void => undefined;
    const request: ClientRequest = send(new URL(`${url.pathname.replace(/\/$/, '')}${path}`, url), {
      method: 'POST',
      agent: false,
      signal,
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/octet-stream',
        ...(bytes !== undefined && { 'content-length': bytes }),
      },
    });
    const limit = (ms: number, what: string): void => {
      cancelTimer();
      cancelTimer = clock.after(ms, () =>
        request.destroy(new DomainError('BACKEND_TIMEOUT', `The upload proxy ${url.host} ${what}.`)),
      );
    };
    const end = (): void => {
      cancelTimer();
      source.destroy();
      request.destroy();
    };
    const fail = (error: unknown): void => {
      end();
      reject(signal.aborted ? (signal.reason as Error) : translate(url, error));
    };
    limit(STALL_TIMEOUT_MS, 'does not accept the file');
    let sent = 0;
    source.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      onBytes(sent);
      limit(STALL_TIMEOUT_MS, 'does not accept the file');
    });
    source.once('end', () => limit(ANSWER_TIMEOUT_MS, 'does not answer after everything was sent'));
    source.once('error', (error) =>
      fail(new DomainError('BACKEND_FAILED', `The content of the upload can't be read: ${messageOf(error)}.`)),
    );
    request.once('error', fail);
    request.once('response', (response) => {
      // A refusal arrives before everything was sent.
      source.unpipe(request);
      readAnswer(response).then((text) => {
        end();
        resolve({ status: response.statusCode ?? 0, text });
      }, fail);
    });
    source.pipe(request);
  });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  return text;
}

function refusal({ host }: URL, { status, text }: ProxyAnswer): DomainError {
  const quote = plainText(text.replace(/<[^>]*>/g, ' '), MAX_QUOTE_LENGTH);
  const said = quote === '' ? '' : ` It says: ${quote}`;
  if (status === 401 || status === 403)
    return new DomainError(
      'BACKEND_FORBIDDEN',
      `The upload proxy ${host} does not accept the token of the upload.${said}`,
    );
  if (status === 404)
    return new DomainError('BACKEND_FAILED', `${host} is not an upload proxy of CDI: set uploadProxy of the context.`);
  if (status === 413)
    return new DomainError(
      'REJECTED_BY_BACKEND',
      `A proxy in front of ${host} limits the size of uploads: raise its limit, such as proxy-body-size of ingress-nginx.`,
    );
  if (status >= 300 && status < 400)
    return new DomainError(
      'BACKEND_FAILED',
      `${host} redirects uploads: set uploadProxy of the context to the final URL.`,
    );
  if ([502, 503, 504].includes(status))
    return new Unready('BACKEND_FAILED', `The upload server behind ${host} is not ready (${status}).${said}`);
  return new DomainError('REJECTED_BY_BACKEND', `The upload proxy ${host} answered ${status}.${said}`);
}

function translate({ host }: URL, error: unknown): Error {
  if (error instanceof DomainError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/CERT|SSL|TLS|ALTNAME/.test(code)) {
    return new DomainError(
      'BACKEND_UNREACHABLE',
      `The certificate of the upload proxy ${host} is not accepted (${messageOf(error)}): set uploadProxyCa of the context.`,
      { cause: error },
    );
  }
  return new Unready('BACKEND_UNREACHABLE', `The upload to ${host} was interrupted: ${messageOf(error) || code}.`, {
    cause: error,
  });
}
