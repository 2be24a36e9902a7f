import { DomainError } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';

/** The operations that change something. */
const CHANGES: ReadonlySet<string> = new Set([
  'define',
  'undefine',
  'setMetadata',
  'setAutostart',
  'attachDevice',
  'start',
  'createPaused',
  'resume',
  'destroy',
  'switchToOverlays',
  'commit',
  'pivot',
  'pull',
  'beginBackup',
  'serveBackup',
  'abortBackup',
  'deleteCheckpoint',
  'createVolume',
  'copyVolume',
  'upload',
  'deleteVolume',
]);

/**
 * A connection whose process is killed: the change of this number is the last one that happens, and nothing works
 * afterwards.
 */
export class DyingConnection {
  changes = 0;
  isDead = false;

  constructor(
    private readonly connection: LibvirtConnection,
    private readonly lastChange: number,
  ) {}

  open(): LibvirtConnection {
    return this.wrap(this.connection);
  }

  private wrap<T extends object>(inner: T): T {
    return new Proxy(inner, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value === 'object' && value !== null) return this.wrap(value);
        if (typeof value !== 'function') return value;
        if (name === 'close') return value.bind(target) as unknown;
        return (...args: unknown[]): unknown => this.call(String(name), () => value.apply(target, args) as unknown);
      },
    });
  }

  private call(name: string, run: () => unknown): unknown {
    if (this.isDead) return Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'The service was killed.'));
    if (!CHANGES.has(name)) return run();
    this.changes++;
    if (this.changes <= this.lastChange) return run();
    this.isDead = true;
    return Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'The service was killed.'));
  }
}
