import type { IncomingMessage } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Audit, formatRef, type Caller, type Instance } from '@headgate/domain-contracts';
import type { AdmittedConsole } from '../consoles/console-request.js';
import { CallerIdentity } from '../identity/caller-identity.js';
import { STATUS } from '../platform/error-status.js';
import { Readiness } from '../platform/readiness.js';
import { toDomainError } from '../platform/to-domain-error.js';
import { PORT_ROUTE, PortRequests, type AdmittedPort } from '../ports/port-request.js';
import { RequestRecorder } from './request-recorder.js';

const SWITCHING_PROTOCOLS = 101;

/** Records the consoles and ports that are opened, and those that are denied. */
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
    this.append(caller, instance, 'open console', viewOnly ? 'view only' : '');
  }

  openedPort({ instance, caller, port }: AdmittedPort): void {
    this.append(caller, instance, 'open port', `port ${port}`);
  }

  refused(request: IncomingMessage, error: unknown): void {
    const { code, message } = toDomainError(error);
    if (!this.readiness.isReady || STATUS[code] !== 403) return;
    const [path = ''] = (request.url ?? '').split('?', 1);
    this.recorder.record({
      method: 'GET',
      route: routeOf(path),
      status: STATUS[code],
      address: this.identity.addressOf(request),
      code,
      message,
      isDryRun: false,
    });
  }

  private append(caller: Caller, { ref }: Instance, action: string, message: string): void {
    if (!this.readiness.isReady) return;
    this.audit.append(caller, {
      kind: 'request',
      action,
      ref: formatRef(ref),
      outcome: 'ok',
      status: SWITCHING_PROTOCOLS,
      message,
    });
  }
}

const routeOf = (path: string): string =>
  PortRequests.isOne({ url: path }) ? PORT_ROUTE : (/^\/api\/(vnc|tty)\//.exec(path)?.[0].concat(':ns/:name') ?? '');
