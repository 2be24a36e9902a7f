import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { expectAllowed, may } from '@headgate/access';
import { ConsoleQuery, InstancePath } from '@headgate/api-contracts';
import {
  BackendDirectory,
  DomainError,
  isVm,
  type Caller,
  type ConsoleSource,
  type Grant,
  type Instance,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { WebSocket } from 'ws';
import { TYPE, WATCH } from './console-needs.js';
import { ConsoleOwners } from './console-owners.js';
import { expectRunning } from './expect-running.js';
import { queryOf } from './query-of.js';
import type { PeerRequest } from '../identity/local-trust.js';
import { CallerResolver } from '../identity/caller-resolver.js';
import { InstanceAccess } from '../identity/instance-access.js';
import { InstanceConnections } from '../identity/instance-connections.js';
import { Readiness } from '../platform/readiness.js';
import { WireValidationPipe } from '../platform/wire-validation.pipe.js';

/** A console that the caller may open. */
export interface AdmittedConsole {
  readonly instance: Instance;
  readonly source: ConsoleSource;
  readonly caller: Caller;
  /** Whether input is dropped. */
  readonly viewOnly: boolean;
}

type UpgradeRequest = Pick<IncomingMessage, 'url'> & PeerRequest;

/** The close code for a violated policy. Source: RFC 6455, 7.4.1. */
const RIGHTS_ENDED = 1008;
/** The close code for an endpoint that goes away. */
const CONTEXT_GONE = 1001;
const PATH = /^\/api\/(vnc|tty)\/([^/]+)\/([^/]+)$/;
const pipe = new WireValidationPipe();

/** Determines the console that an upgrade requests, and refuses it before the socket is opened. */
@Injectable()
export class ConsoleRequests {
  /** The decisions of the guard, for the gateway that receives the socket. */
  private readonly admitted = new WeakMap<object, Promise<AdmittedConsole>>();

  constructor(
    private readonly backends: BackendDirectory,
    private readonly callers: CallerResolver,
    private readonly access: InstanceAccess,
    private readonly connections: InstanceConnections,
    private readonly owners: ConsoleOwners,
    private readonly readiness: Readiness,
    private readonly fleet: FleetReader,
  ) {}

  /**
   * Decides once per request.
   * @throws DomainError PATH_NOT_FOUND, INVALID_NAME, INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_SUPPORTED,
   *   WRONG_STATE, REGISTRY_FULL
   */
  admit(request: UpgradeRequest): Promise<AdmittedConsole> {
    const known = this.admitted.get(request);
    if (known) return known;
    const decided = this.decide(request);
    this.admitted.set(request, decided);
    return decided;
  }

  /** Closes a socket when its caller may not use the console any more. */
  closeWithRights({ caller, instance, viewOnly }: AdmittedConsole, socket: Pick<WebSocket, 'close' | 'once'>): void {
    const needs = viewOnly ? [WATCH] : [WATCH, TYPE];
    const close = (reason: string): void => socket.close(RIGHTS_ENDED, reason);
    socket.once('close', this.connections.closeWith(caller, instance, needs, close));
  }

  /** Closes a socket when the context of its instance is removed from the service, or gets another connection. */
  closeWithContext({ ref: { context } }: Pick<Instance, 'ref'>, socket: Pick<WebSocket, 'close' | 'once'>): void {
    const unsubscribe = this.fleet.subscribe((event) => {
      if (event.type !== 'status' || event.state.context !== context) return;
      if (event.isReplaced) socket.close(CONTEXT_GONE, 'the settings of the context were changed');
      if (event.state.state === 'detached') socket.close(CONTEXT_GONE, 'the context was removed from the service');
    });
    socket.once('close', unsubscribe);
  }

  private async decide(request: UpgradeRequest): Promise<AdmittedConsole> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, console = '', ns = '', name = ''] = PATH.exec(url.pathname) ?? [];
    const caller = this.callers.of(request, console === '' ? '' : `GET /api/${console}/:ns/:name`);
    if (console === '') throw new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.');
    const path = (await pipe.transform({ ns, name }, { type: 'param', metatype: InstancePath })) as InstancePath;
    const query = (await pipe.transform(queryOf(url), { type: 'query', metatype: ConsoleQuery })) as ConsoleQuery;
    const instance = this.find(console, path, query, caller.grant);
    const viewOnly = !this.mayType(caller, instance);
    const source = this.backends.get(instance.ref.context).require('consoles');
    expectRunning(instance);
    this.readiness.expectSpace();
    if (isVm(instance)) await this.owners.claim(console, instance.ref);
    return { instance, source, caller, viewOnly };
  }

  /** @throws DomainError NOT_PERMITTED for a caller who may not even watch */
  private mayType({ grant }: Caller, instance: Instance): boolean {
    const target = { instance: this.access.subjectOf(instance) };
    expectAllowed(grant, WATCH, target);
    return may(grant, TYPE, target);
  }

  /** The VM when a container has the same name. Only the serial path leads to containers. */
  private find(console: string, { ns, name }: InstancePath, { context, kind }: ConsoleQuery, grant: Grant): Instance {
    const query = { namespace: ns, name, context };
    if (console === 'vnc' || kind === 'vm') return this.access.find({ kind: 'vm', ...query }, grant);
    if (kind === 'ct') return this.access.find({ kind: 'ct', ...query }, grant);
    try {
      return this.access.find({ kind: 'vm', ...query }, grant);
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND')) throw error;
      return this.access.find({ kind: 'ct', ...query }, grant);
    }
  }
}
