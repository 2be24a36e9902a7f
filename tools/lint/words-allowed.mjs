/**
 * Places where a word of the list is right, each with the reason. `file` is a path or the beginning of one, `text` a part of the line.
 * @type {{ file: string, rule: string, text?: string, reason: string }[]}
 */
export const allowed = [
  {
    file: 'libs/matrix-protocol/src/redact-event.ts',
    rule: 'British spelling',
    text: 'join_authorised_via_users_server',
    reason: 'a member of m.room.member events in the Matrix specification',
  },
];
