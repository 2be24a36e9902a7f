import type { IncomingMessage } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Audit, formatRef } from '@headgate/domain-contracts';
import type { AdmittedConsole } from '../consoles/console-request.js';
import { CallerIdentity } from '../identity/caller-identity.js';
import { STATUS } from '../platform/error-status.js';
import { Readiness } from '../platform/readiness.js';
import { toDomainError } from '../platform/to-domain-error.js';
import { RequestRecorder } from './request-recorder.js';

const SWITCHING_PROTOCOLS = 101;

/** Records the consoles that are opened, and those that are denied. */
export class SocketRecorder {
  private readonly audit: Audit;
  private readonly recorder: RequestRecorder;
  private readonly identity: CallerIdentity;
  private readonly readiness: Readiness;

  constructor(app: NestFastifyApplication) {
    this.audit = app.get(Audit, { strict: false });
    this.recorder = app.get(RequestRecorder, { strict: false });
    this.identity = app.get(CallerIdentity, { strict: false });
    this.readiness = app.get(Readiness, { strict: false });
  }

  opened({ instance, caller, viewOnly }: AdmittedConsole): void {
    if (!this.readiness.isReady) return;
    this.audit.append(caller, {
      kind: 'request',
      action: 'open console',
      ref: formatRef(instance.ref),
      outcome: 'ok',
      status: SWITCHING_PROTOCOLS,
      message: viewOnly ? 'view only' : '',
    });
  }

  refused(request: IncomingMessage, error: unknown): void {
    const { code, message } = toDomainError(error);
    if (!this.readiness.isReady || STATUS[code] !== 403) return;
    const [path = ''] = (request.url ?? '').split('?', 1);
    this.recorder.record({
      method: 'GET',
      route: /^\/api\/(vnc|tty)\//.exec(path)?.[0].concat(':ns/:name') ?? '',
      status: STATUS[code],
      address: this.identity.addressOf(request),
      code,
      message,
      isDryRun: false,
    });
  }
}
