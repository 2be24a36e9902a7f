import type { DrainDto } from '@headgate/api-contracts';

/** The choices of the form, as the controls have them. */
export interface DrainChoices {
  readonly atOnce: string;
  readonly stopOnError: boolean;
  readonly skipRefused: boolean;
}

/** The number that the service takes without a choice. */
const USUAL_AT_ONCE = '2';

export const USUAL_DRAIN: DrainChoices = { atOnce: USUAL_AT_ONCE, stopOnError: false, skipRefused: false };

/** Only the choices that differ from those that the service makes. */
export const drainBody = ({ atOnce, stopOnError, skipRefused }: DrainChoices): DrainDto => ({
  ...(atOnce !== USUAL_AT_ONCE && { atOnce: Number(atOnce) }),
  ...(stopOnError && { stopOnError }),
  ...(skipRefused && { skipRefused }),
});
