import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import type { EventJournal } from './event-journal.js';
import { LibvirtEvents } from './libvirt-events.js';

/** @param journal receives the events of the inventory */
export const openEvents = ({ finder }: LibvirtEngine, journal: EventJournal): LibvirtEvents =>
  new LibvirtEvents(finder, journal);
