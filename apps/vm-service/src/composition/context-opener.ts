import { join } from 'node:path';
import { takePicture } from '@headgate/consoles';
import { SystemClock, type Backend, type BackendDeps, type OpenedBackend } from '@headgate/domain-contracts';
import type { Logger } from 'pino';
import type { CommandLine } from '../config/command-line.js';
import type { ContextSection } from '../config/context-section.js';
import { importExceptions } from '../config/import-exceptions.js';
import type { Settings } from '../config/load-config.js';
import type { BackendKinds } from '../engines/backend-kinds.js';
import type { ReplicaFence } from './replica-fence.js';

export interface ContextOpenerOptions {
  readonly options: Pick<CommandLine, 'tinyGuest' | 'readerGuest' | 'accelerator'>;
  readonly settings: Settings;
  readonly log: Logger;
  readonly kinds: BackendKinds;
  readonly fence: ReplicaFence;
}

/** Opens contexts with everything that the service offers to them, whether they are configured or added. */
export class ContextOpener {
  private readonly clock = new SystemClock();
  private readonly peers = new Set<Backend>();

  constructor(private readonly service: ContextOpenerOptions) {}

  get kinds(): BackendKinds {
    return this.service.kinds;
  }

  /** @throws SettingError */
  openConfigured({ name, kind: word, settings }: ContextSection): Promise<OpenedBackend> {
    const kind = this.kinds[word];
    if (!kind) throw new Error(`there is no backend of the kind ${word}`);
    return kind.open(this.depsOf(name, settings ?? new kind.settings()));
  }

  depsOf<S extends object>(context: string, settings: Readonly<S>): BackendDeps<S> {
    const { options, settings: service, log, fence } = this.service;
    return {
      context,
      settings,
      dataDir: this.folderOf(context),
      clock: this.clock,
      log: log.child({ context }),
      peers: () => [...this.peers],
      mayWrite: fence.mayWrite,
      takePicture: (open) => takePicture(this.clock, open),
      importAllow: importExceptions(service),
      tinyGuest: options.tinyGuest,
      readerGuest: options.readerGuest,
      accelerator: options.accelerator,
    };
  }

  /** The folder for the files of a context. */
  folderOf(context: string): string {
    return join(this.service.settings.dataDir, 'fetch', encodeURIComponent(context));
  }

  /** The folder for the files of tests, which may contain keys. */
  get testsFolder(): string {
    return join(this.service.settings.dataDir, 'context-tests');
  }

  /** Makes a backend known to the others. */
  keep(backend: Backend): void {
    this.peers.add(backend);
  }

  forget(backend: Backend): void {
    this.peers.delete(backend);
  }
}
