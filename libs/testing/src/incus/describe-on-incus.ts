import { INCUS_FLAVORS, whyIncusIsUnavailable, type IncusFlavor } from './incus-programs.js';

/** A suite for each engine, with its name in the title. It is skipped, with the reason, where the engine can't run. */
export function describeOnIncus(title: string, suite: (flavor: IncusFlavor) => void): void {
  for (const flavor of INCUS_FLAVORS) {
    const reason = whyIncusIsUnavailable(flavor);
    if (reason === undefined) describe(`${title} on ${flavor}`, () => suite(flavor));
    else describe.skip(`${title} on ${flavor}: ${reason}`, () => suite(flavor));
  }
}
