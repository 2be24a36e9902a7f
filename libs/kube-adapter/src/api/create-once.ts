import { randomBytes } from 'node:crypto';
import type { Clock } from '@headgate/domain-contracts';
import { ANNOTATION } from '../labels.js';
import { isConnectionCut, isOutcomeUnknown, mayBeDone } from './kube-api-error.js';
import type { KubeObject } from './kube-object.js';

const ID_BYTES = 8;
const MAX_REPEATS = 3;
const FIRST_PAUSE_MS = 100;
/** As in the API server, which cuts the prefix of a generated name for its suffix. */
const MAX_PREFIX_LENGTH = 58;
const SUFFIX_LENGTH = 5;
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * The object with a name and an id of its creation, by which it is recognized when the answer to the creation is lost.
 */
export function identified({ metadata, ...rest }: KubeObject): KubeObject {
  const { generateName, name = generateName && nameFrom(generateName), annotations, ...others } = metadata;
  const id = annotations?.[ANNOTATION.createId] ?? randomBytes(ID_BYTES).toString('hex');
  return { ...rest, metadata: { ...others, name, annotations: { ...annotations, [ANNOTATION.createId]: id } } };
}

const nameFrom = (prefix: string): string =>
  prefix.slice(0, MAX_PREFIX_LENGTH) +
  [...randomBytes(SUFFIX_LENGTH)].map((byte) => SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]).join('');

export interface Creation<T extends KubeObject> {
  readonly clock: Clock;
  /** Passes the error of each attempt after which it sends the request again. */
  readonly send: (onRepeat: (error: unknown) => void) => Promise<T>;
  /** The object with the name of the new one. */
  readonly find: () => Promise<T | undefined>;
  /** The object that is sent, with its id. */
  readonly object: KubeObject;
}

/**
 * Creates an object once. When the answer is lost, the object is looked up, and the request is sent again unless this
 * call has created it. If its name belongs to another object, the server refuses the repetition. The error of a request
 * whose outcome stays unknown is that of the request.
 */
export async function createOnce<T extends KubeObject>({ clock, send, find, object }: Creation<T>): Promise<T> {
  let mayExist = false;
  const onRepeat = (error: unknown): void => void (mayExist ||= mayBeDone(error));
  for (let repeats = 0; ; repeats++) {
    try {
      return await send(onRepeat);
    } catch (error) {
      mayExist ||= isOutcomeUnknown(error);
      if (!mayExist) throw error;
      // After a lost answer, a refusal may be due to the object itself: its name is taken, or the VM is busy with it.
      const found = await find().catch(() => {
        throw error;
      });
      if (found && idOf(found) === idOf(object)) return found;
      if (!isConnectionCut(error) || repeats === MAX_REPEATS) throw error;
      await clock.delay(FIRST_PAUSE_MS * 2 ** repeats);
    }
  }
}

const idOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[ANNOTATION.createId];
