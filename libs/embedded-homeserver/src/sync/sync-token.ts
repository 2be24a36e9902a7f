import { MatrixError } from '@headgate/matrix-protocol';

/** A client's position: the last event that it may have seen, and the position of the account data. */
export interface SyncToken {
  seq: number;
  data: number;
}

export const START: SyncToken = { seq: 0, data: 0 };

export const writeSyncToken = ({ seq, data }: SyncToken): string => `s${seq}_${data}`;

/** @throws MatrixError M_INVALID_PARAM for anything that is not a token of this server */
export function readSyncToken(text: string | null): SyncToken {
  if (text === null || text === '') return START;
  const [, seq, data = '0'] = /^s([0-9]{1,15})(?:_([0-9]{1,15}))?$/.exec(text) ?? [];
  if (seq === undefined) throw MatrixError.invalidParam('since must be a token of this server.');
  return { seq: Number(seq), data: Number(data) };
}
