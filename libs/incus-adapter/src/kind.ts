import type { BackendKind } from '@headgate/domain-contracts';
import { addedIncus } from './added-incus.js';
import { discoverIncus } from './discover-incus.js';
import { IncusSettings } from './incus-settings.js';
import { INCUS_TRAITS } from './incus-traits.js';
import { openIncus } from './open-incus.js';

export type { IncusSettings };

/** A server of Incus or LXD, on this machine or on the network. */
export const incusKind: BackendKind<IncusSettings> = {
  traits: INCUS_TRAITS,
  settings: IncusSettings,
  open: (deps) => openIncus(deps),
  discover: () => discoverIncus(),
  describe: (settings) => addedIncus.describe(settings),
  added: addedIncus,
};
