import { randomBytes } from 'node:crypto';
import { LeastRecentlyUsed } from '@headgate/homeserver-contracts';
import type { RuleRefusal } from '@headgate/limit-rules';

/** Beyond that, further blocks stay with the gateway. */
const MAX_BLOCKS = 20_000;
/** Ended blocks, for readers that come late. Without their end, a reader has the duration of each block. */
const MAX_ENDED = 10_000;
/** Reports of one block differ by the time that they took. */
const SAME_BLOCK_MS = 1_000;

/** A block of an address, or of the network of an IPv6 caller, under one rule. */
export interface AddressBlock {
  readonly id: number;
  readonly rule: string;
  /** An IPv4 address, or the network that counts as one caller. */
  readonly value: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly untilMs: number;
  /** Where readers find it among the changes; 0 while a longer block of the same value is in force. */
  readonly position: number;
}

export interface EndedBlock extends AddressBlock {
  /** Its time is over. Otherwise, it was lifted, or its rule is gone. */
  readonly hasExpired: boolean;
}

/** What a reader has not seen yet. Apply the ends first: a value may be blocked again. */
export interface BlockChanges {
  readonly added: readonly AddressBlock[];
  readonly ended: readonly EndedBlock[];
  /** The position of the next changes. */
  readonly position: number;
}

/** The blocks as they are stored. */
export interface StoredBlocks {
  readonly gateway: string;
  readonly position: number;
  readonly nextId: number;
  readonly readers: Readonly<Record<string, number>>;
  readonly blocks: readonly AddressBlock[];
  readonly ended: readonly EndedBlock[];
}

export interface AddressBlocksDeps {
  /** Whether a rule still blocks a value, and others may know. */
  readonly isInForce: (block: Pick<AddressBlock, 'rule' | 'value'>) => boolean;
  readonly stored?: StoredBlocks | undefined;
  /** There are too many blocks: further ones are left out from now on, until others end. */
  readonly onFull?: (blocks: number) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * The addresses that rules of this gateway block, for programs that ban them elsewhere. Of several blocks of a value,
 * readers get the one that lasts longest. Only own blocks are here, never those of deny lists, so that gateways that
 * read each other's don't prolong them forever.
 */
export class AddressBlocks {
  /** The origin of the decisions of this gateway, by which it knows its own when they come back. */
  readonly origin: string;
  /** Is called after a change that has to be stored. */
  onChange: () => void = () => undefined;
  private readonly gateway: string;
  private readonly byValue = new Map<string, readonly AddressBlock[]>();
  private readonly readers: Map<string, number>;
  /** The ends of blocks that were lifted: a request that was decided before may still report one. */
  private readonly lifted = new LeastRecentlyUsed<string, number>(MAX_ENDED);
  private readonly now: () => number;
  private ended: EndedBlock[];
  private position: number;
  private nextId: number;
  private count = 0;
  private isFull = false;

  constructor(private readonly deps: AddressBlocksDeps) {
    const { stored, now = Date.now } = deps;
    this.now = now;
    this.gateway = stored?.gateway ?? randomBytes(4).toString('hex');
    this.origin = `homeserver-limits-${this.gateway}`;
    this.position = stored?.position ?? 0;
    this.nextId = stored?.nextId ?? 1;
    this.readers = new Map(Object.entries(stored?.readers ?? {}));
    this.ended = [...(stored?.ended ?? [])];
    for (const block of stored?.blocks ?? []) this.keep(block);
  }

  /** Notes the block that a refusal reports. */
  note({ rule, by, key: value, reason, retryAfterMs }: Omit<RuleRefusal, 'granted' | 'event'>): void {
    if (by !== 'source' || reason !== 'block' || !this.deps.isInForce({ rule, value })) return;
    const startedMs = this.now();
    const untilMs = startedMs + retryAfterMs;
    const known = this.byValue.get(value)?.find((block) => block.rule === rule);
    if (isSame(known?.untilMs, untilMs) || isSame(this.lifted.get(idOf(rule, value)), untilMs)) return;
    if (!known && this.count >= MAX_BLOCKS) {
      if (!this.isFull) this.deps.onFull?.(MAX_BLOCKS);
      this.isFull = true;
      return;
    }
    this.isFull = false;
    this.change(value, known !== undefined && known.untilMs <= startedMs, () => {
      if (known) this.drop(known);
      this.keep({ id: this.nextId++, rule, value, startedMs, untilMs, position: 0 });
    });
  }

  /** Ends the block of a value under a rule, which an operator has lifted. */
  lift(rule: string, value: string): void {
    const block = this.byValue.get(value)?.find((one) => one.rule === rule);
    if (block) this.end(block, block.untilMs <= this.now());
  }

  /** The blocks in force, one for each value. */
  current(): AddressBlock[] {
    this.prune();
    return [...this.byValue.values()].map(longest);
  }

  /** The changes after a position; everything that is known without one. */
  since(position = 0): BlockChanges {
    const added = this.current();
    // The positions of another file are ahead of this one.
    const start = position > this.position ? 0 : position;
    const isNew = (block: AddressBlock) => block.position > start;
    return { added: added.filter(isNew), ended: this.ended.filter(isNew), position: this.position };
  }

  /** The position up to which a reader has the changes. */
  positionOf(reader: string): number | undefined {
    return this.readers.get(reader);
  }

  advance(reader: string, position: number): void {
    if (this.readers.get(reader) === position) return;
    this.readers.set(reader, position);
    this.onChange();
  }

  stored(): StoredBlocks {
    this.prune();
    const { gateway, position, nextId, ended } = this;
    const readers = Object.fromEntries(this.readers);
    return { gateway, position, nextId, readers, blocks: [...this.byValue.values()].flat(), ended };
  }

  /** Ends the blocks whose time is over, and those that are no longer in force after a change of the configuration. */
  private prune(): void {
    const nowMs = this.now();
    for (const block of [...this.byValue.values()].flat()) {
      if (block.untilMs <= nowMs) this.end(block, true);
      else if (!this.deps.isInForce(block)) this.end(block, false);
    }
  }

  private end(block: AddressBlock, hasExpired: boolean): void {
    if (!hasExpired) this.lifted.set(idOf(block.rule, block.value), block.untilMs);
    this.change(block.value, hasExpired, () => this.drop(block));
  }

  /** Announces the block that a value has after a change, and the end of the one that it had. */
  private change(value: string, hasExpired: boolean, work: () => void): void {
    const before = this.longestOf(value);
    work();
    const after = this.longestOf(value);
    if (after === before) return;
    const isGone = before !== undefined && !this.byValue.get(value)?.includes(before);
    if (isGone && (after === undefined || after.untilMs < before.untilMs || hasExpired)) {
      this.ended.push({ ...before, position: ++this.position, hasExpired });
      if (this.ended.length > MAX_ENDED) this.ended = this.ended.slice(-MAX_ENDED / 2);
    }
    if (after) {
      this.drop(after);
      this.keep({ ...after, position: ++this.position });
    }
    this.onChange();
  }

  private longestOf(value: string): AddressBlock | undefined {
    const blocks = this.byValue.get(value);
    return blocks && longest(blocks);
  }

  private keep(block: AddressBlock): void {
    this.byValue.set(block.value, [...(this.byValue.get(block.value) ?? []), block]);
    this.count++;
  }

  private drop(block: AddressBlock): void {
    const rest = (this.byValue.get(block.value) ?? []).filter((one) => one !== block);
    if (rest.length > 0) this.byValue.set(block.value, rest);
    else this.byValue.delete(block.value);
    this.count--;
  }
}

const longest = (blocks: readonly AddressBlock[]): AddressBlock =>
  blocks.reduce((a, b) => (b.untilMs > a.untilMs ? b : a));

const isSame = (aMs: number | undefined, bMs: number): boolean =>
  aMs !== undefined && Math.abs(aMs - bMs) < SAME_BLOCK_MS;

const idOf = (rule: string, value: string): string => `${rule} ${value}`;
