import { isTag } from '@headgate/domain-contracts';
import type { Config } from '../api/incus-objects.js';

/** The keys that this service writes into the configuration of instances and volumes. */
export const KEY = {
  /** The image that was requested. */
  image: 'user.headgate.image',
  /** The ID of the creation: instances and volumes of one creation have the same. Copies of an instance keep it. */
  creation: 'user.headgate.creation',
  /** Of a volume: the UUID of the instance with which it is deleted. */
  instance: 'user.headgate.instance',
  /** Of an instance and its volume: the operation that works on them, or has last. Snapshots have a copy of it. */
  operation: 'user.headgate.operation',
  /** Of an instance: it is stopped for a change, and is started after it. */
  restarting: 'user.headgate.restarting',
} as const;

const PREFIX = 'user.headgate.';
const TAG_PREFIX = `${PREFIX}tag.`;
const ON = 'true';

/** Whether this service has written it. */
export const isOwnKey = (key: string): boolean => key.startsWith(PREFIX);

export const tagKey = (tag: string): string => TAG_PREFIX + tag;

/** Sorted. Only tags that the API accepts: other clients may have written others. */
export const tagsOf = (config: Config): string[] =>
  Object.entries(config)
    .flatMap(([key, value]) => (key.startsWith(TAG_PREFIX) && value === ON ? [key.slice(TAG_PREFIX.length)] : []))
    .filter(isTag)
    .sort();
