/** The answers of the operator's API, as far as the desk reads them. */

export interface Refusal {
  readonly time: string;
  readonly rule: string;
  readonly key?: string;
  readonly reason: 'limit' | 'block' | 'cap' | 'concurrent' | 'denied';
  readonly limit?: number;
  readonly retryAfterMs?: number;
  readonly event?: string;
  readonly address?: string;
  readonly user?: string;
  readonly path?: string;
  readonly shadow?: true;
}

export interface ExplainedRequest {
  readonly time: string;
  readonly event: string;
  readonly path?: string;
  readonly address: string;
  readonly user?: string;
  readonly counted: boolean | null;
  readonly refusedBy?: string;
}

export interface Explanation {
  readonly rule: string;
  readonly by: string;
  readonly key: string;
  readonly shadow: boolean;
  readonly limit: number;
  readonly windowMs: number;
  readonly counted: number;
  readonly inFlight: number;
  readonly closesInMs: number;
  readonly blockedForMs: number;
  readonly isFull: boolean;
  readonly requests: readonly ExplainedRequest[];
}

export interface Why {
  readonly subject: string;
  readonly rules: readonly Explanation[];
  readonly refusals: readonly Refusal[];
}

export interface Lift {
  readonly lifted: boolean;
  readonly previous?: { readonly operator: string; readonly time: string; readonly reason?: string };
}

export interface Override {
  readonly rule: string;
  readonly key: string;
  readonly factor?: number;
  readonly limit?: number;
  readonly until: string;
  readonly reason: string;
}

export interface Rate {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly on?: readonly string[];
  readonly by?: string;
  readonly shadow?: boolean;
  readonly unit?: string;
}

export interface Cap {
  readonly name: string;
  readonly limit: number;
  readonly what: string;
}

export interface RuleList {
  readonly rates: readonly Rate[];
  readonly caps: readonly Cap[];
}

export type Series = 'granted' | 'refused' | 'shadow_refused';

export interface Decisions {
  readonly minutes: number;
  readonly rules: readonly (Record<Series, readonly number[]> & { readonly name: string })[];
}

export interface JournalEntry {
  readonly id: string;
  readonly time: string;
  readonly operator: string;
  readonly address: string;
  readonly action: 'lift' | 'set_override' | 'delete_override';
  readonly rule: string;
  readonly key: string;
  readonly reason?: string;
  readonly detail?: string;
  readonly result?: 'done' | 'nothing' | 'failed';
}

export interface ReplayReport {
  readonly requests: number;
  readonly refused: number;
  readonly refusedThen: number;
  readonly refusedNow: number;
  readonly grantedNow: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly isPart: boolean;
  readonly rules: readonly {
    readonly name: string;
    readonly refused: number;
    readonly wouldBeRefused: number;
    readonly keys: number;
    readonly top: readonly { readonly key: string; readonly refusals: number }[];
  }[];
}
