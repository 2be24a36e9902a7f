import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import type { EventHistory } from './event-history.js';
import { LibvirtEvents } from './libvirt-events.js';

/** @param journal receives the events of the inventory */
export const openEvents = ({ finder }: LibvirtEngine, journal: EventHistory): LibvirtEvents =>
  new LibvirtEvents(finder, journal);
