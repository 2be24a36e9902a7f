import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type Grant, type InstanceKind } from '@headgate/domain-contracts';
import { FleetReader, inListOrder, type FleetEntry } from '@headgate/fleet';
import { FleetHistory, type Gap } from '@headgate/history';
import { mayReadPast } from './readable.js';

/** The list of one kind as of a time. */
export interface PastList {
  readonly entries: readonly FleetEntry[];
  /** Whether a context was lost then, or nothing was recorded. */
  readonly isPartial: boolean;
  /** The beginning and the end of the time in which nothing was recorded, in ISO 8601. */
  readonly gap?: string;
}

/** The history of the fleet, as callers may see it. */
@Injectable()
export class PastLists {
  constructor(
    private readonly fleet: FleetReader,
    @Inject(FleetHistory) private readonly recorded: FleetHistory | undefined,
  ) {}

  /** @throws DomainError NOT_SUPPORTED when it is switched off */
  get history(): FleetHistory {
    if (this.recorded) return this.recorded;
    const message = 'The history of the fleet is switched off in the configuration: history.record is false.';
    throw new DomainError('NOT_SUPPORTED', message);
  }

  /**
   * @param at RFC 3339
   * @throws DomainError INVALID_INPUT for a time in the future, or before the first record
   */
  async read(kind: InstanceKind, at: string, grant: Grant): Promise<PastList> {
    const { entries, contexts, gap } = await this.history.at(Date.parse(at));
    const found = entries.filter((entry) => entry.instance.ref.kind === kind && mayReadPast(entry, grant, this.fleet));
    return {
      // As in a lost context, the entries are the last known ones.
      entries: inListOrder(gap ? found.map((entry) => ({ ...entry, stale: true })) : found),
      isPartial: gap !== undefined || contexts.some(({ state }) => state !== 'up'),
      ...(gap && { gap: formatGap(gap) }),
    };
  }
}

const formatGap = ({ from, to }: Gap): string =>
  `${new Date(from).toISOString()}/${to === undefined ? '..' : new Date(to).toISOString()}`;
