import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { expectAllowed } from '@headgate/access';
import { ContextQuery, PortPath } from '@headgate/api-contracts';
import { BackendDirectory, DomainError, type Caller, type GuestPorts, type Instance } from '@headgate/domain-contracts';
import { expectRunning } from '../consoles/expect-running.js';
import { queryOf } from '../consoles/query-of.js';
import { CallerResolver } from '../identity/caller-resolver.js';
import { InstanceAccess } from '../identity/instance-access.js';
import type { PeerRequest } from '../identity/local-trust.js';
import { Readiness } from '../platform/readiness.js';
import { WireValidationPipe } from '../platform/wire-validation.pipe.js';
import { PortConnections } from './port-connections.js';
import { PORTS } from './ports-need.js';

/** A port that the caller may connect to. */
export interface AdmittedPort {
  readonly instance: Instance;
  readonly ports: GuestPorts;
  readonly port: number;
  readonly caller: Caller;
}

type UpgradeRequest = Pick<IncomingMessage, 'url'> & PeerRequest;

export const PORT_ROUTE = '/api/ext/vms/:ns/:name/ports/:port';
const PATH = /^\/api\/ext\/vms\/([^/]+)\/([^/]+)\/ports\/([^/]+)$/;
const pipe = new WireValidationPipe();

/** Determines the port that an upgrade requests, and refuses it before the socket is opened. */
@Injectable()
export class PortRequests {
  /** The decisions of the guard, for the gateway that receives the socket. */
  private readonly admitted = new WeakMap<object, Promise<AdmittedPort>>();

  constructor(
    private readonly backends: BackendDirectory,
    private readonly callers: CallerResolver,
    private readonly access: InstanceAccess,
    private readonly readiness: Readiness,
    private readonly connections: PortConnections,
  ) {}

  /** Whether a request is for a port. */
  static isOne({ url = '/' }: Pick<IncomingMessage, 'url'>): boolean {
    return PATH.test(url.split('?', 1)[0] ?? '');
  }

  /**
   * Decides once per request.
   * @throws DomainError INVALID_NAME, INVALID_INPUT, INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_PERMITTED,
   *   NOT_SUPPORTED, WRONG_STATE, TOO_MANY_STREAMS, REGISTRY_FULL
   */
  admit(request: UpgradeRequest): Promise<AdmittedPort> {
    const known = this.admitted.get(request);
    if (known) return known;
    const decided = this.decide(request);
    this.admitted.set(request, decided);
    return decided;
  }

  private async decide(request: UpgradeRequest): Promise<AdmittedPort> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, ns = '', name = '', number = ''] = PATH.exec(url.pathname) ?? [];
    const caller = this.callers.of(request, `GET ${PORT_ROUTE}`);
    if (ns === '') throw new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.');
    const wanted = { ns, name, port: number };
    const path = (await pipe.transform(wanted, { type: 'param', metatype: PortPath })) as PortPath;
    const query = (await pipe.transform(queryOf(url), { type: 'query', metatype: ContextQuery })) as ContextQuery;
    const found = { kind: 'vm', namespace: path.ns, name: path.name, context: query.context } as const;
    const instance = this.access.find(found, caller.grant);
    expectAllowed(caller.grant, PORTS, { instance: this.access.subjectOf(instance) });
    const ports = this.backends.get(instance.ref.context).requireFor('vm', 'guestPorts');
    expectRunning(instance, 'connect to its ports');
    this.readiness.expectSpace();
    this.connections.expectRoom(caller);
    return { instance, ports, port: Number(path.port), caller };
  }
}
