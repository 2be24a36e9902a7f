import { Inject, Injectable } from '@nestjs/common';
import type { ContextView } from '@headgate/api-contracts';
import type { AddedContext } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { AddedContexts } from '../fleet/added-contexts.js';
import { Backends } from '../fleet/backends.js';
import { CONTEXTS } from '../platform/tokens.js';

/** All contexts with their states, without secrets. */
@Injectable()
export class ReadContexts {
  constructor(
    private readonly backends: Backends,
    private readonly added: AddedContexts,
    private readonly fleet: FleetReader,
    @Inject(CONTEXTS) private readonly contexts: ChosenContexts,
  ) {}

  all(): ContextView[] {
    const stored = this.added.stored();
    const used = new Set(stored.filter(({ name }) => this.added.reasonOf(name) === undefined).map(({ name }) => name));
    const configured = this.backends.all().filter(({ context }) => !used.has(context));
    return [
      ...configured.map((one) => this.presentConfigured(one.context, one.kind)),
      ...stored.map((one) => this.present(one)),
    ];
  }

  /** An added context. */
  find(name: string): ContextView | undefined {
    return this.all().find((one) => one.name === name && one.origin === 'added');
  }

  private presentConfigured(name: string, kind: string): ContextView {
    const { configured = [], opener } = this.contexts;
    const section = configured.find((one) => one.name === name);
    const describe = section && opener?.kinds[section.kind]?.describe;
    return {
      name,
      kind: section?.kind ?? kind,
      origin: 'configuration',
      ...this.stateOf(name),
      settings: describe ? { ...describe(section.settings ?? {}) } : {},
    };
  }

  private present({ name, kind, settings, creator, addedAt }: AddedContext): ContextView {
    const added = this.contexts.opener?.kinds[kind]?.added;
    const reason = this.added.reasonOf(name);
    return {
      name,
      kind,
      origin: 'added',
      ...(reason === undefined ? this.stateOf(name) : { state: 'unused' as const, reason }),
      settings: added ? { ...added.describe(settings) } : {},
      creator,
      addedAt,
    };
  }

  private stateOf(name: string): Pick<ContextView, 'state' | 'reason'> {
    const { state = 'connecting', reason } = this.fleet.states().find(({ context }) => context === name) ?? {};
    return { state: state === 'detached' ? 'unused' : state, ...(reason !== undefined && { reason }) };
  }
}
