import {
  AddedContextStore,
  DomainError,
  messageOf,
  SettingError,
  type AddedContext,
  type AddedKind,
  type Clock,
  type Log,
  type OpenedBackend,
  type SettingsChange,
} from '@headgate/domain-contracts';
import { ConfigError, parseSection } from '@headgate/nest-kit';
import type { ContextOpener } from '../composition/context-opener.js';
import type { ContextTargets } from '../composition/context-targets.js';
import type { Settings } from '../config/load-config.js';
import type { Backends } from './backends.js';
import { closeOpened } from './close-opened.js';

export interface AddedContextsDeps {
  readonly store: AddedContextStore;
  readonly backends: Backends;
  readonly opener: ContextOpener | undefined;
  readonly targets: ContextTargets;
  readonly settings: Pick<Settings, 'addedContexts' | 'store'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Settings of a request that were checked, with their kind. */
export interface ParsedContext {
  readonly name: string;
  /** The word of its kind. */
  readonly word: string;
  readonly kind: AddedKind;
  readonly settings: Readonly<object>;
}

/** The contexts that were added over the API: checks their settings, and opens them again after a restart. */
export class AddedContexts {
  private readonly opened = new Map<string, OpenedBackend>();
  /** Why stored contexts are not used, by name. */
  private readonly reasons = new Map<string, string>();
  /** The names that requests add, change or remove at this moment. */
  private readonly changing = new Set<string>();

  constructor(private readonly deps: AddedContextsDeps) {}

  /** The words of the kinds that can be added. */
  get kinds(): readonly string[] {
    const kinds = Object.entries(this.deps.opener?.kinds ?? {});
    return kinds.filter(([, { added }]) => added !== undefined).map(([word]) => word);
  }

  stored(): readonly AddedContext[] {
    return this.deps.store.all();
  }

  /** Why a stored context is not used. */
  reasonOf(name: string): string | undefined {
    return this.reasons.get(name);
  }

  /** Why this service has no added contexts at all. */
  get refusal(): string | undefined {
    const { store, addedContexts } = this.deps.settings;
    if (store.kind === 'cluster') {
      return 'Replicas share no contexts that are added while they run: add the context to the configuration file of all replicas.';
    }
    return addedContexts.allow === false
      ? 'The configuration does not allow contexts to be added while the service runs (addedContexts.allow).'
      : undefined;
  }

  /**
   * Adds, changes or removes a context while no other request does that with its name.
   * @throws DomainError BUSY
   */
  async during<T>(name: string, change: () => Promise<T>): Promise<T> {
    if (this.changing.has(name)) {
      throw new DomainError('BUSY', `The context "${name}" is being added, changed or removed; try again in a moment.`);
    }
    this.changing.add(name);
    try {
      return await change();
    } finally {
      this.changing.delete(name);
    }
  }

  isChanging(name: string): boolean {
    return this.changing.has(name);
  }

  /** How many contexts are stored, with those that are being added. */
  get count(): number {
    return new Set([...this.stored().map(({ name }) => name), ...this.changing]).size;
  }

  /** Opens the stored contexts. One that can't be opened keeps none of the others from it. */
  async openStored(): Promise<void> {
    for (const context of this.stored()) {
      const { name } = context;
      try {
        if (this.refusal !== undefined) throw new DomainError('NOT_SUPPORTED', this.refusal);
        if (this.deps.backends.find(name)) {
          throw new DomainError(
            'ALREADY_EXISTS',
            'The configuration has a context of this name, which is used instead.',
          );
        }
        const opened = await this.open(this.parse(name, context.kind, context.settings));
        this.deps.backends.add(opened.backend);
      } catch (error) {
        this.reasons.set(name, messageOf(error));
        this.deps.log.warn({ context: name, reason: messageOf(error) }, 'added context not opened');
      }
    }
  }

  /**
   * Checks the settings of a context. Does no I/O but to resolve the links of a path.
   * @throws DomainError INVALID_INPUT with the key that is wrong
   */
  parse(name: string, word: string, raw: Readonly<object>): ParsedContext {
    const { targets } = this.deps;
    const kind = this.kindOf(word);
    return withPlainErrors(() => {
      const settings = kind.reduce(name, parseSection(kind.settings, { ...raw }, 'settings', name));
      targets.expectPaths(kind.targets(settings), kind);
      return { name, word, kind, settings };
    });
  }

  /**
   * Checks the settings that a stored context has after a change, like those of a new one.
   * @throws DomainError INVALID_INPUT with the key that is wrong, or with the secret that must be given again
   */
  parseChange({ name, kind: word, settings }: AddedContext, change: SettingsChange): ParsedContext {
    const kind = this.kindOf(word);
    return this.parse(
      name,
      word,
      withPlainErrors(() => kind.merge(name, settings, change)),
    );
  }

  /** Opens a context, and uses it. @throws DomainError INVALID_INPUT for a setting that can't be used */
  async open(context: ParsedContext): Promise<OpenedBackend> {
    const opened = await this.openUnused(context);
    await this.use(context.name, opened)();
    return opened;
  }

  /**
   * Opens a context next to the one that is used.
   * @throws DomainError INVALID_INPUT for a setting that can't be used
   */
  async openUnused({ name, kind, settings }: ParsedContext): Promise<OpenedBackend> {
    const { opener } = this.deps;
    if (!opener) throw new DomainError('NOT_SUPPORTED', 'This service opens no further contexts.');
    try {
      return await kind.open(opener.depsOf(name, settings));
    } catch (error) {
      throw error instanceof SettingError ? new DomainError('INVALID_INPUT', `${error.problem}.`) : error;
    }
  }

  /**
   * Uses an opened context in place of the former one of its name.
   * @returns closes the former one, and does not fail
   */
  use(name: string, opened: OpenedBackend): () => Promise<void> {
    const { opener, clock, log } = this.deps;
    const former = this.opened.get(name);
    this.reasons.delete(name);
    this.opened.set(name, opened);
    opener?.keep(opened.backend);
    if (former) opener?.forget(former.backend);
    return async () => {
      const failure = former && (await closeOpened(former, clock));
      if (failure !== undefined) log.warn({ context: name, reason: failure }, 'replaced context not closed');
    };
  }

  /**
   * Forgets the secrets that the other side accepts only once, when it has accepted the connection. A secret that can't
   * be forgotten now is forgotten after the next connection.
   */
  async forgetUsedSecrets(name: string): Promise<void> {
    const { store, log } = this.deps;
    try {
      const stored = this.stored().find((one) => one.name === name);
      if (!stored || this.reasons.has(name)) return;
      const kept = this.kindOf(stored.kind).withoutUsedSecrets?.(stored.settings) ?? stored.settings;
      if (Object.keys(stored.settings).some((key) => !(key in kept))) await store.update(name, { ...kept });
    } catch (error) {
      log.warn({ context: name, reason: messageOf(error) }, 'used secrets of a context not forgotten');
    }
  }

  /** Closes a context that was opened, and forgets why it was not. */
  async close(name: string): Promise<void> {
    this.reasons.delete(name);
    const opened = this.opened.get(name);
    if (!opened) return;
    this.opened.delete(name);
    this.deps.opener?.forget(opened.backend);
    await opened.backend.close();
    await opened.close?.();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.opened.keys()].map((name) => this.close(name)));
  }

  private kindOf(word: string): AddedKind {
    const kind = this.kinds.includes(word) ? this.deps.opener?.kinds[word]?.added : undefined;
    if (!kind) throw new DomainError('INVALID_INPUT', `kind must be one of ${this.kinds.join(', ')}.`);
    return kind;
  }
}

function withPlainErrors<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ConfigError) throw new DomainError('INVALID_INPUT', `${error.problems.join('; ')}.`);
    if (error instanceof SettingError) throw new DomainError('INVALID_INPUT', `${error.problem}.`);
    throw error;
  }
}
