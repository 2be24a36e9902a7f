import { MatrixError, parseUserId } from '@headgate/matrix-protocol';
import type { PowerLevels } from './power-levels.js';
import type { NewEvent } from './events.js';
import type { Rooms } from './rooms.js';

const MEMBERSHIPS = ['invite', 'join', 'leave', 'ban'];

/** Who may invite, join, leave, kick and ban. */
export class MembershipRules {
  constructor(
    private readonly rooms: Rooms,
    private readonly levels: (roomId: string) => PowerLevels,
  ) {}

  /** @throws MatrixError M_FORBIDDEN, M_BAD_JSON */
  check({ roomId, sender, content }: NewEvent, target: string): void {
    const { membership } = content;
    if (typeof membership !== 'string' || !MEMBERSHIPS.includes(membership)) {
      throw MatrixError.badJson(`membership must be one of ${MEMBERSHIPS.join(', ')}.`);
    }
    if (!parseUserId(target)) throw MatrixError.badJson('The state key of a membership must be a user ID.');
    if (membership === 'join') return this.checkJoin(roomId, sender, target);
    if (membership === 'leave' && sender === target) return this.checkLeave(roomId, target);
    this.requireJoined(roomId, sender);
    if (membership === 'invite') return this.checkInvite(roomId, sender, target);
    this.checkRemoval(roomId, sender, target, membership === 'ban' ? 'ban' : 'kick');
  }

  requireJoined(roomId: string, userId: string): void {
    if (this.rooms.membership(roomId, userId) !== 'join')
      throw MatrixError.forbidden('The user is not a member of this room.');
  }

  private checkJoin(roomId: string, sender: string, target: string): void {
    const current = this.rooms.membership(roomId, target);
    const open = this.rooms.stateContent(roomId, 'm.room.join_rules')?.join_rule === 'public';
    const mayJoin = current === 'join' || current === 'invite' || (open && current !== 'ban');
    if (sender !== target || !mayJoin) throw MatrixError.forbidden('You are not invited to this room.');
  }

  private checkLeave(roomId: string, target: string): void {
    const current = this.rooms.membership(roomId, target);
    if (current !== 'join' && current !== 'invite')
      throw MatrixError.forbidden('The user is not a member of this room.');
  }

  private checkInvite(roomId: string, sender: string, target: string): void {
    const current = this.rooms.membership(roomId, target);
    if (current === 'join' || current === 'ban') {
      throw MatrixError.forbidden('This user is already in the room, or banned from it.');
    }
    const levels = this.levels(roomId);
    if (levels.ofUser(sender) < levels.named('invite')) throw insufficientPower(levels.named('invite'), 'invite');
  }

  private checkRemoval(roomId: string, sender: string, target: string, action: 'ban' | 'kick'): void {
    const levels = this.levels(roomId);
    const isUnban = action === 'kick' && this.rooms.membership(roomId, target) === 'ban';
    const needed = isUnban ? Math.max(levels.named('ban'), levels.named('kick')) : levels.named(action);
    if (levels.ofUser(sender) < needed) throw insufficientPower(needed, `${action} members`);
    if (levels.ofUser(target) >= levels.ofUser(sender))
      throw MatrixError.forbidden(`${target} has at least your power level.`);
  }
}

export const insufficientPower = (needed: number, action: string): MatrixError =>
  MatrixError.forbidden(`You need power level ${needed} to ${action} here.`);
