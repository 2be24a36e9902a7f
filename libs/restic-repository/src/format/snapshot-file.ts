import { DamagedError } from '../model/errors.js';
import type { Snapshot } from '../model/types.js';
import { fieldsOf, idOf, isId, stringOf, stringsOf } from './json.js';

export function encodeSnapshot(snapshot: Omit<Snapshot, 'id'>): unknown {
  const { time, parent, tree, paths, hostname, username, tags } = snapshot;
  return { time, parent, tree, paths, hostname, username, tags: tags.length === 0 ? undefined : tags };
}

/** @throws DamagedError */
export function decodeSnapshot(value: unknown, id: string, subject: string): Snapshot {
  const fields = fieldsOf(value, subject);
  const time = stringOf(fields, 'time', subject);
  if (Number.isNaN(Date.parse(time))) throw new DamagedError(`${subject} has no time.`, subject);
  return {
    id,
    time,
    tree: idOf(fields, 'tree', subject),
    hostname: stringOf(fields, 'hostname', subject),
    username: stringOf(fields, 'username', subject),
    paths: stringsOf(fields, 'paths', subject),
    tags: stringsOf(fields, 'tags', subject),
    ...(isId(fields['parent']) ? { parent: fields['parent'] } : {}),
  };
}
