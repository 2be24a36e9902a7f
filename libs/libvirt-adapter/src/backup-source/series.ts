import { randomBytes } from 'node:crypto';
import { DomainError } from '@headgate/domain-contracts';

const SERIES = /^[a-z0-9]{1,32}$/;

/** The beginning of libvirt's names of the checkpoints of a series. Those of exports contain a dot, these do not. */
const prefixOf = (series: string): string => `headgate-backup-${series}-`;

/** libvirt's name of a new checkpoint, which is also that of its bitmaps. It is never used again. */
export function newSeriesCheckpoint(series: string): string {
  if (!SERIES.test(series))
    throw new DomainError('INVALID_INPUT', 'series: use 1 to 32 lower-case letters and digits.');
  return `${prefixOf(series)}${randomBytes(6).toString('hex')}`;
}

export const isOfSeries = (checkpoint: string, series: string): boolean => checkpoint.startsWith(prefixOf(series));
