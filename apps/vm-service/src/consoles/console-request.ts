import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ConsoleQuery, InstancePath } from '@headgate/api-contracts';
import {
  BackendDirectory,
  DomainError,
  InstanceDirectory,
  isContainer,
  isRunningStatus,
  isVm,
  type Caller,
  type ConsoleSource,
  type Instance,
} from '@headgate/domain-contracts';
import type { PeerRequest } from '../identity/local-trust.js';
import { CallerResolver } from '../identity/caller-resolver.js';
import { WireValidationPipe } from '../platform/wire-validation.pipe.js';

/** A console that the caller may open. */
export interface AdmittedConsole {
  readonly instance: Instance;
  readonly source: ConsoleSource;
  readonly caller: Caller;
}

type UpgradeRequest = Pick<IncomingMessage, 'url'> & PeerRequest;

const PATH = /^\/api\/(vnc|tty)\/([^/]+)\/([^/]+)$/;
const pipe = new WireValidationPipe();

/** Determines the console that an upgrade requests, and refuses it before the socket is opened. */
@Injectable()
export class ConsoleRequests {
  /** The decisions of the guard, for the gateway that receives the socket. */
  private readonly admitted = new WeakMap<object, Promise<AdmittedConsole>>();

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly callers: CallerResolver,
  ) {}

  /** Decides once per request. @throws DomainError PATH_NOT_FOUND, INVALID_NAME, INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_SUPPORTED, WRONG_STATE */
  admit(request: UpgradeRequest): Promise<AdmittedConsole> {
    const known = this.admitted.get(request);
    if (known) return known;
    const decided = this.decide(request);
    this.admitted.set(request, decided);
    return decided;
  }

  private async decide(request: UpgradeRequest): Promise<AdmittedConsole> {
    const caller = this.callers.of(request);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, console = '', ns = '', name = ''] = PATH.exec(url.pathname) ?? [];
    if (console === '') throw new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.');
    const path = (await pipe.transform({ ns, name }, { type: 'param', metatype: InstancePath })) as InstancePath;
    const query = (await pipe.transform(parameters(url), { type: 'query', metatype: ConsoleQuery })) as ConsoleQuery;
    const instance = this.find(console, path, query);
    const source = this.backends.get(instance.ref.context).require('consoles');
    expectRunning(instance);
    return { instance, source, caller };
  }

  /** The VM when a container has the same name. Only the serial path leads to containers. */
  private find(console: string, { ns, name }: InstancePath, { context, kind }: ConsoleQuery): Instance {
    const query = { namespace: ns, name, context };
    if (console === 'vnc' || kind === 'vm') return this.directory.resolve({ kind: 'vm', ...query });
    if (kind === 'ct') return this.directory.resolve({ kind: 'ct', ...query });
    try {
      return this.directory.resolve({ kind: 'vm', ...query });
    } catch (error) {
      if (!DomainError.is(error, 'INSTANCE_NOT_FOUND')) throw error;
      return this.directory.resolve({ kind: 'ct', ...query });
    }
  }
}

const parameters = (url: URL): Record<string, string | string[]> =>
  Object.fromEntries([...new Set(url.searchParams.keys())].map((key) => [key, one(url.searchParams.getAll(key))]));

const one = (values: string[]): string | string[] => (values.length === 1 ? (values[0] ?? '') : values);

function expectRunning(instance: Instance): void {
  const isRunning = isContainer(instance)
    ? instance.phase === 'Running'
    : isVm(instance) && isRunningStatus(instance.status);
  if (!isRunning)
    throw new DomainError('WRONG_STATE', `${instance.ref.name} does not run; start it to open a console.`);
}
