import type { RequestOutcome, RuleFacts, RuleRefusal } from '@headgate/limit-rules';
import type { CapWrite } from '@headgate/limits-core';
import type { DecisionListener } from '@headgate/limits-nest';
import type { Channel } from './channel.js';

type Decision = Parameters<DecisionListener>[1];

/** Something that a worker holds in the main process until it gives it back: a reservation, or a place. */
export type HeldId = number;

/** A metric with its values, as prom-client sums it up. */
export interface MetricValues {
  readonly name: string;
  readonly type: unknown;
}

/** A refusal that a worker decides on itself. */
export interface OwnRefusal {
  readonly rule: string;
  readonly reason: 'cap' | 'denied';
  readonly key?: string | undefined;
  readonly limit?: number | undefined;
  readonly address?: string | undefined;
  readonly path?: string | undefined;
  readonly shadow?: true;
}

/** A deny list with its addresses and networks. */
export interface DeniedEntries {
  readonly name: string;
  readonly shadow: boolean;
  readonly entries: readonly string[];
}

/** The settings of a worker. */
export interface WorkerSettings {
  /** The text of the configuration that the main process started with, and the name of its file. */
  readonly text: string;
  readonly path?: string | undefined;
  /** The text of the last reload. */
  readonly reloaded?: string | undefined;
  readonly dataDir: string;
}

/** What a worker asks of the main process, which has the windows, the caps, the metrics and everything of operators. */
export interface MainMethods {
  /** Decides on a request. `held`: it has to be settled. */
  admit(facts: readonly RuleFacts[]): Promise<{ held?: HeldId; refusal?: RuleRefusal }>;
  settle(settled: { held: HeldId; outcome: RequestOutcome }): void | Promise<void>;
  /** @param asked `count` names the count of the holder in the worker, which `countHeld` runs */
  reserveCap(asked: { cap: string; write: CapWrite; count: number }): Promise<{ held?: HeldId; limit?: number }>;
  /** @param settled `added` is the reserved amount when left out */
  settleCap(settled: { held: HeldId; isWritten: boolean; added?: number | undefined }): void;
  changeHolder(change: {
    change: 'free' | 'invalidate' | 'expire';
    cap: string;
    holder: string;
    amount?: number | undefined;
  }): void;
  /** Takes a place for a request in progress. */
  enter(asked: { name: string; address: string; source: string }): Promise<{ held?: HeldId; retryAfterMs?: number }>;
  leave(left: { held: HeldId }): void;
  /** Reports a decision that the worker took on its own, on a bound of a single request. */
  report(decision: { rule: string; outcome: Decision }): void;
  /** Reports a refusal of the worker itself, for the log and the desk. */
  refuse(refused: OwnRefusal): void;
  /** The metrics of all processes, as text. */
  metrics(nothing: null): Promise<string>;
  /** The connection is open in the worker, which reads nothing of it before this message has left. */
  taken(connection: { id: number }): void;
  /** The connection did not arrive: the worker has no file descriptor left. */
  lost(connection: { id: number }): void;
  closed(connection: { id: number }): void;
}

/** What the main process asks of a worker. */
export interface WorkerMethods {
  /** Resolves when the worker can take connections. */
  start(settings: WorkerSettings): Promise<void>;
  countHeld(count: { count: number }): Promise<number>;
  /** @returns whether the configuration is in force */
  reload(configuration: { text: string }): Promise<boolean>;
  /** Replaces the deny lists. */
  deny(lists: readonly DeniedEntries[]): void;
  /** The metrics of this process, as prom-client aggregates them. */
  metrics(nothing: null): Promise<MetricValues[]>;
  /** Completes the requests in progress, and ends. */
  stop(nothing: null): void;
}

/** The way of a worker to the main process. */
export type MainLink = Channel<MainMethods>;

/** The token of the way to the main process; undefined in a process without workers and in the main process itself. */
export const MAIN_LINK = Symbol('MainLink');
