import type { JsonObject } from '@headgate/matrix-protocol';
import { clientEvent, type StoredEvent, type Viewer } from '../rooms/events.js';
import type { Rooms } from '../rooms/rooms.js';

const TIMELINE = 20;

/** The state of a room that invited users may see. */
const INVITE_STATE_TYPES = ['m.room.create', 'm.room.join_rules', 'm.room.canonical_alias', 'm.room.name'];

/** The part of a sync response about one room. */
export class RoomSummaries {
  constructor(private readonly rooms: Rooms) {}

  /** Whether the viewer's membership changed after this event. */
  membershipChangedSince(roomId: string, { userId }: Viewer, seq: number): boolean {
    return (this.rooms.stateEvent(roomId, 'm.room.member', userId)?.seq ?? 0) > seq;
  }

  /**
   * The events of a room after an event, and the state before the first of them.
   * @param after 0 for everything, as after joining
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
    const membership = this.rooms.stateEvent(roomId, 'm.room.member', userId);
    const inviter = membership && this.rooms.stateEvent(roomId, 'm.room.member', membership.sender);
    const roomState = INVITE_STATE_TYPES.map((type) => this.rooms.stateEvent(roomId, type));
    const shown = [...roomState, inviter, membership].filter((event) => event !== undefined);
    return { invite_state: { events: shown.map(stripped) } };
  }

  /** The leave event alone. The viewer has seen, or may not see, anything before it. */
  left(roomId: string, viewer: Viewer): JsonObject {
    const membership = this.rooms.stateEvent(roomId, 'm.room.member', viewer.userId);
    const events = membership ? [clientEvent(membership, viewer)] : [];
    return { state: { events: [] }, timeline: { events, limited: false }, account_data: { events: [] } };
  }
}

const stripped = ({ type, stateKey = '', sender, content }: StoredEvent): JsonObject => ({
  type,
  sender,
  content,
  state_key: stateKey,
});
