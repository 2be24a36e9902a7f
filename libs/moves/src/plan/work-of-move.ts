import { workOn, type InstanceRef, type Work } from '@headgate/domain-contracts';
import type { ChosenDestination } from './choose-destination.js';

/** What a move reserves: its source, and the name of the copy. */
export const workOfMove = (source: InstanceRef, chosen: ChosenDestination | undefined): Work =>
  workOn('move', source, chosen && !chosen.isSamePlace ? chosen.ref : undefined);
