/**
 * Places where a word of the list is right, each with the reason. `file` is a path or the beginning of one, `text` a
 * part of the line.
 * @type {{ file: string, rule: string, text?: string, reason: string }[]}
 */
export const allowed = [
  {
    file: 'libs/matrix-protocol/src/redact-event.ts',
    rule: 'British spelling',
    text: 'join_authorised_via_users_server',
    reason: 'a member of m.room.member events in the Matrix specification',
  },
  {
    file: 'libs/embedded-homeserver/src/schema.ts',
    rule: 'British spelling',
    reason: 'values and columns of a released database schema',
  },
  {
    file: 'libs/embedded-homeserver/src/delayed-events/delayed-events.ts',
    rule: 'British spelling',
    reason: 'values and columns of a released database schema, and finalised_ts of MSC4140',
  },
  {
    file: 'apps/homeserver-limits-e2e/src/durability.spec.ts',
    rule: 'British spelling',
    reason: 'finalised_ts of MSC4140, and the text of its error',
  },
  {
    file: 'apps/homeserver-limits-e2e/src/embedded.spec.ts',
    rule: 'British spelling',
    text: 'm.favourite',
    reason: 'a tag in the Matrix specification',
  },
  {
    file: 'libs/homeserver-contracts/src/paths/path-table.spec.ts',
    rule: 'British spelling',
    text: 'm.favourite',
    reason: 'a tag in the Matrix specification',
  },
];
