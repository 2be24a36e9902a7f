import { MatrixError } from '@headgate/matrix-protocol';

/** Where a client stands: the last event it may have seen, and the position of its user's account data. */
export interface SyncToken {
  seq: number;
  data: number;
}

export const BEGINNING: SyncToken = { seq: 0, data: 0 };

export const writeSyncToken = ({ seq, data }: SyncToken): string => `s${seq}_${data}`;

/** @throws MatrixError M_INVALID_PARAM for what is no token of this server */
export function readSyncToken(text: string | null): SyncToken {
  if (text === null || text === '') return BEGINNING;
  const [, seq, data = '0'] = /^s([0-9]{1,15})(?:_([0-9]{1,15}))?$/.exec(text) ?? [];
  if (seq === undefined) throw MatrixError.invalidParam('since is no token of this server.');
  return { seq: Number(seq), data: Number(data) };
}
