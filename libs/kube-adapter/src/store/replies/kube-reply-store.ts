import {
  DomainError,
  ReplyStore,
  SILENT_LOG,
  tooManyKeys,
  type KeptReply,
  type Log,
  type ReplyClaim,
  type StoredReply,
} from '@headgate/domain-contracts';
import { isNotFound, isOutcomeUnknown, isWriteConflict } from '../../api/kube-api-error.js';
import { SERVICE_REPLIES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { WatchedObjects, type StoredObject } from '../watched-objects.js';

export interface ReplySpec {
  readonly claim: ReplyClaim;
  readonly reply?: KeptReply;
}

/** Every replica watches all of them, so fewer than in a registry of one service. */
const MAX_PER_CALLER = 2_000;
const MAX_ATTEMPTS = 8;
/** Enough of the hash for the name of an object. */
const NAME_CHARS = 40;

const objectNameOf = ({ scope }: ReplyClaim): string => `reply-${scope.slice(0, NAME_CHARS)}`;

const isComplete = ({ claim, reply }: Partial<ReplySpec>): boolean =>
  [claim?.scope, claim?.caller, claim?.request, claim?.replica, claim?.run].every((text) => typeof text === 'string') &&
  [claim?.claimedAt, claim?.expiresAt].every((time) => !Number.isNaN(Date.parse(time ?? ''))) &&
  (reply === undefined || Number.isInteger(reply.status));

const isSame = (a: ReplyClaim, b: ReplyClaim): boolean =>
  a.scope === b.scope && a.run === b.run && a.claimedAt === b.claimedAt;

/**
 * ReplyStore in custom resources of a cluster, one for each claim. The API server creates an object of one name once,
 * so that one replica gets the claim. Keeps 2,000 claims of each caller; replicas that claim at the same moment may
 * keep a few more.
 */
export class KubeReplyStore extends ReplyStore {
  private readonly objects: WatchedObjects<ReplySpec>;
  private readonly maxPerCaller: number;

  constructor(
    store: ClusterStore,
    {
      maxPerCaller = MAX_PER_CALLER,
      log = SILENT_LOG,
    }: { readonly maxPerCaller?: number | undefined; readonly log?: Log } = {},
  ) {
    super();
    this.maxPerCaller = maxPerCaller;
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_REPLIES,
      subject: 'answer of an idempotency key',
      isComplete,
      skipsUnreadable: true,
      log,
    });
  }

  /** @throws DomainError NOT_READY when the claims can't be used; they are left as they are */
  open(): Promise<void> {
    return this.objects.open();
  }

  close(): Promise<void> {
    return this.objects.close();
  }

  override async claim(claim: ReplyClaim): Promise<StoredReply | undefined> {
    const name = objectNameOf(claim);
    for (let attempt = 1; ; attempt++) {
      const stored = await this.latest(claim);
      if (stored && (isSame(stored.spec.claim, claim) || stored.spec.claim.expiresAt > claim.claimedAt))
        // A repeated request may have found the object that the first one has created.
        return isSame(stored.spec.claim, claim) && attempt > 1 ? undefined : storedReplyOf(stored);
      this.expectFewer(claim);
      try {
        await (stored ? this.objects.replace(stored, { claim }) : this.objects.create(name, { claim }));
        return undefined;
      } catch (error) {
        const isRepeatable =
          DomainError.is(error, 'ALREADY_EXISTS') ||
          isWriteConflict(error) ||
          isNotFound(error) ||
          isOutcomeUnknown(error);
        if (!isRepeatable || attempt === MAX_ATTEMPTS) throw error;
        await this.objects.read(name);
      }
    }
  }

  override async complete(claim: ReplyClaim, reply: KeptReply): Promise<void> {
    const updated = await this.objects.update(objectNameOf(claim), ({ claim: stored, reply: earlier }) => {
      if (!isSame(stored, claim)) throw notClaimed();
      if (earlier === undefined) return { claim, reply };
      // A write whose response was lost.
      if (earlier.status === reply.status && earlier.sealed === reply.sealed) return undefined;
      throw notClaimed();
    });
    if (!updated) throw notClaimed();
  }

  override async release(claim: ReplyClaim): Promise<void> {
    const stored = this.objects.get(objectNameOf(claim));
    if (stored && stored.spec.reply === undefined && isSame(stored.spec.claim, claim))
      await this.objects.delete(stored);
  }

  override async deleteExpired(time: string): Promise<void> {
    for (const object of this.objects.all()) if (object.spec.claim.expiresAt <= time) await this.objects.delete(object);
  }

  /**
   * An answer never changes until it has expired; everything else may have changed at another replica since the watch
   * has reported it.
   */
  private async latest(claim: ReplyClaim): Promise<StoredObject<ReplySpec> | undefined> {
    const known = this.objects.get(objectNameOf(claim));
    if (!known) return undefined;
    const isFinal = known.spec.reply !== undefined && known.spec.claim.expiresAt > claim.claimedAt;
    return isFinal ? known : this.objects.read(objectNameOf(claim));
  }

  /** @throws DomainError TOO_MANY_KEYS */
  private expectFewer({ caller, claimedAt }: ReplyClaim): void {
    const valid = this.objects
      .all()
      .filter(({ spec }) => spec.claim.caller === caller && spec.claim.expiresAt > claimedAt);
    if (valid.length >= this.maxPerCaller) throw new DomainError('TOO_MANY_KEYS', tooManyKeys(this.maxPerCaller));
  }
}

const notClaimed = (): DomainError =>
  new DomainError('CONFLICT', 'The idempotency key is no longer claimed by this run.');

const storedReplyOf = ({ spec: { claim, reply } }: StoredObject<ReplySpec>): StoredReply => ({
  ...claim,
  ...(reply ? { reply: { ...reply } } : {}),
});
