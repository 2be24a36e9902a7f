import type { Logger } from 'pino';
import type { DenyListSettings } from '../config/deny.section.js';
import { parseDuration } from '../config/fields.js';
import { firstLineOf } from '../config/shared-secret.js';
import { CrowdsecStream } from './crowdsec-stream.js';

export interface CrowdsecListsDeps {
  readonly log: Pick<Logger, 'info' | 'error' | 'warn'>;
  /** A list has changed. */
  readonly onChange: () => void;
  /** The origin of the decisions that this gateway exports. */
  readonly ownOrigin?: string | undefined;
}

/** The lists of CrowdSec that the configuration names. Without its local API, a list stays until its bans end. */
export class CrowdsecLists {
  private readonly lists = new Map<string, FollowedList>();

  constructor(private readonly deps: CrowdsecListsDeps) {}

  /** Follows the lists of a configuration, and no others. Those that have not changed go on. */
  async configure(settings: readonly DenyListSettings[]): Promise<void> {
    const wanted = new Map(settings.filter(({ crowdsec }) => crowdsec !== undefined).map((one) => [idOf(one), one]));
    for (const [id, list] of this.lists) {
      if (wanted.has(id)) continue;
      list.stop();
      this.lists.delete(id);
    }
    const added = [...wanted].filter(([id]) => !this.lists.has(id));
    for (const [id, one] of added) this.lists.set(id, new FollowedList(one, this.deps));
    await Promise.all(added.map(([id]) => this.lists.get(id)!.start()));
  }

  entriesOf(settings: DenyListSettings): readonly string[] {
    return this.lists.get(idOf(settings))?.entries ?? [];
  }

  stop(): void {
    for (const list of this.lists.values()) list.stop();
  }
}

const idOf = ({ name, crowdsec, key_file, interval }: DenyListSettings): string =>
  JSON.stringify([name, crowdsec, key_file, interval]);

/** One list, asked for in intervals. */
class FollowedList {
  private readonly stream: CrowdsecStream;
  private timer: NodeJS.Timeout | undefined;
  private hasFailed = false;
  private applied = '';
  private isStopped = false;

  constructor(
    private readonly settings: DenyListSettings,
    private readonly deps: CrowdsecListsDeps,
  ) {
    const { crowdsec: url = '', key_file = '' } = settings;
    const { ownOrigin } = deps;
    this.stream = new CrowdsecStream({ url, key: () => firstLineOf(key_file), ownOrigin });
  }

  get entries(): readonly string[] {
    return this.stream.entries;
  }

  /** Resolves after the first answer, or its failure. */
  async start(): Promise<void> {
    await this.poll();
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.start(), parseDuration(this.settings.interval)).unref();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private async poll(): Promise<void> {
    const { log, onChange } = this.deps;
    const { name: list } = this.settings;
    try {
      await this.stream.poll();
      if (this.hasFailed) log.info({ list }, 'the list of CrowdSec is available again');
      this.hasFailed = false;
      if (this.stream.skipped > 0)
        log.warn({ list, skipped: this.stream.skipped }, 'some bans of CrowdSec were left out');
      this.stream.skipped = 0;
    } catch (error) {
      if (!this.hasFailed)
        log.error({ list, err: error }, 'the list of CrowdSec is not available; its bans stay until they end');
      this.hasFailed = true;
    }
    // Bans also end while the local API is not available.
    const present = this.stream.entries.join();
    if (present === this.applied || this.isStopped) return;
    this.applied = present;
    onChange();
  }
}
