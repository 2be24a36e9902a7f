import type { BulkDto } from '@headgate/api-contracts';

/** The order in which a bulk task works on its instances. */
export type BulkOptions = Pick<BulkDto, 'atOnce' | 'waitReady' | 'stopOnError' | 'at'>;

/** The choices of a form, as the controls have them. */
export interface BulkChoices {
  readonly atOnce: string;
  readonly waitReady: boolean;
  readonly stopOnError: boolean;
  /** A local date and time, as the browser's control has it; empty to begin immediately. */
  readonly at: string;
}

/** The number that the service takes without a choice. */
const USUAL_AT_ONCE = '8';

export const USUAL_CHOICES: BulkChoices = { atOnce: USUAL_AT_ONCE, waitReady: false, stopOnError: false, at: '' };

/** Only the choices that differ from those that the service makes. */
export const bulkOptions = ({ atOnce, waitReady, stopOnError, at }: BulkChoices): BulkOptions => ({
  ...(atOnce !== USUAL_AT_ONCE && { atOnce: Number(atOnce) }),
  ...(waitReady && { waitReady }),
  ...(stopOnError && { stopOnError }),
  ...(at !== '' && { at: new Date(at).toISOString() }),
});
