import type { JsonObject } from '@headgate/matrix-protocol';
import { clientEvent, type StoredEvent, type Viewer } from '../rooms/events.js';
import type { Rooms } from '../rooms/rooms.js';

const TIMELINE = 20;

/** What somebody who is invited may know of a room. */
const SHOWN_TO_INVITED = ['m.room.create', 'm.room.join_rules', 'm.room.canonical_alias', 'm.room.name'];

/** What a sync shows of one room. */
export class RoomPictures {
  constructor(private readonly rooms: Rooms) {}

  /** Whether the viewer came into the room, was invited to it or left it after this event. */
  movedSince(roomId: string, { userId }: Viewer, seq: number): boolean {
    return (this.rooms.stateEvent(roomId, 'm.room.member', userId)?.seq ?? 0) > seq;
  }

  /**
   * What happened in a room after an event, and the state that is older than the shown part of it.
   * @param after 0: everything, as to somebody who has just come in
   */
  joined(roomId: string, viewer: Viewer, after: number, accountData: JsonObject[]): JsonObject | undefined {
    const timeline = this.rooms.timeline(roomId, after, TIMELINE);
    const limited = timeline.length === TIMELINE;
    if (after > 0 && timeline.length === 0 && accountData.length === 0) return undefined;
    const first = timeline[0]?.seq ?? Infinity;
    const older = after === 0 || limited ? this.rooms.state(roomId) : [];
    const show = (event: StoredEvent) => clientEvent(event, viewer);
    return {
      state: { events: older.filter(({ seq }) => seq > after && seq < first).map(show) },
      timeline: { events: timeline.map(show), limited },
      account_data: { events: accountData },
      ephemeral: { events: [] },
    };
  }

  invited(roomId: string, { userId }: Viewer): JsonObject {
    const mine = this.rooms.stateEvent(roomId, 'm.room.member', userId);
    const inviter = mine && this.rooms.stateEvent(roomId, 'm.room.member', mine.sender);
    const about = SHOWN_TO_INVITED.map((type) => this.rooms.stateEvent(roomId, type));
    const shown = [...about, inviter, mine].filter((event) => event !== undefined);
    return { invite_state: { events: shown.map(stripped) } };
  }

  /** The leaving alone: what came before it the viewer has seen, or was not meant to. */
  left(roomId: string, viewer: Viewer): JsonObject {
    const mine = this.rooms.stateEvent(roomId, 'm.room.member', viewer.userId);
    const events = mine ? [clientEvent(mine, viewer)] : [];
    return { state: { events: [] }, timeline: { events, limited: false }, account_data: { events: [] } };
  }
}

const stripped = ({ type, stateKey = '', sender, content }: StoredEvent): JsonObject => ({
  ...{ type, sender, content },
  state_key: stateKey,
});
