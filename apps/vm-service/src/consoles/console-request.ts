import type { IncomingMessage } from 'node:http';
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
import type { CallerIdentity } from '../identity/caller-identity.js';
import { WirePipe } from '../platform/wire.pipe.js';

/** A console that may be opened, and by whom. */
export interface AdmittedConsole {
  readonly instance: Instance;
  readonly source: ConsoleSource;
  readonly caller: Caller;
}

type UpgradeRequest = Pick<IncomingMessage, 'url' | 'headers' | 'socket'>;

const PATH = /^\/api\/(vnc|tty)\/([^/]+)\/([^/]+)$/;
const pipe = new WirePipe();

/** Reads which console a socket asks for, and says before it is opened when it can't be. */
export class ConsoleRequests {
  /** What the guard of the upgrade admitted, for the gateway that gets the socket: one decision, taken once. */
  private readonly admitted = new WeakMap<object, AdmittedConsole>();

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly identity: CallerIdentity,
  ) {}

  /** @throws DomainError PATH_NOT_FOUND, INVALID_NAME, INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_SUPPORTED, WRONG_STATE */
  admit(request: UpgradeRequest): AdmittedConsole {
    const known = this.admitted.get(request);
    if (known) return known;
    const decided = this.decide(request);
    this.admitted.set(request, decided);
    return decided;
  }

  private decide(request: UpgradeRequest): AdmittedConsole {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, console = '', ns = '', name = ''] = PATH.exec(url.pathname) ?? [];
    if (console === '') throw new DomainError('PATH_NOT_FOUND', 'There is nothing at this path.');
    const path = pipe.transform({ ns, name }, { type: 'param', metatype: InstancePath }) as InstancePath;
    const query = pipe.transform(parameters(url), { type: 'query', metatype: ConsoleQuery }) as ConsoleQuery;
    const instance = this.find(console, path, query);
    const source = this.backends.get(instance.ref.context).require('consoles');
    expectRunning(instance);
    return { instance, source, caller: this.identity.of(request) };
  }

  /** A VM wins when a container has the same name; only the serial path leads to containers. */
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
  const runs = isContainer(instance)
    ? instance.phase === 'Running'
    : isVm(instance) && isRunningStatus(instance.status);
  if (!runs) throw new DomainError('WRONG_STATE', `${instance.ref.name} does not run; start it to open a console.`);
}
