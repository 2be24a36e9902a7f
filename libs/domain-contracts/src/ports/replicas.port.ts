/** Receives changes of this replica's own state. */
export interface ReplicaListener {
  /** This replica is alive for the others from now on, and may run tasks. */
  joined?(): void;
  /** The others may soon continue the tasks of this replica: all its work must stop now. */
  left?(): void;
  /** This replica does the work that only one may do, from now on. */
  elected?(): void;
  /** Another replica may do that work from now on: it must stop now. */
  deposed?(): void;
}

/** The replicas of this service that share a store. Of one service that runs alone, there is one. */
export abstract class Replicas {
  /** The name of this process, which no other has or had. */
  abstract readonly id: string;

  /** Whether this replica is alive for the others. */
  abstract readonly isMember: boolean;

  /** Whether this replica does the work that only one may do. True in at most one replica at a time. */
  abstract readonly isLeader: boolean;

  /** Whether a replica has ended, or has stopped its work because it can't reach the store. */
  abstract isGone(id: string): Promise<boolean>;

  /**
   * Makes this replica the owner of something that only one of them may use, such as a console, until it releases that
   * or is gone.
   * @returns the ID of the owner
   */
  abstract claim(name: string): Promise<string>;

  /** Ends the ownership of this replica. Does nothing if another one is the owner. */
  abstract release(name: string): Promise<void>;

  /**
   * @param listener is called immediately for the current state, and after each change until the returned function is
   *   called
   */
  abstract subscribe(listener: ReplicaListener): () => void;
}

/** A service that runs alone. */
export class SingleReplica extends Replicas {
  override readonly id = 'single';
  override readonly isMember = true;
  override readonly isLeader = true;

  override async isGone(id: string): Promise<boolean> {
    return id !== this.id;
  }

  override async claim(): Promise<string> {
    return this.id;
  }

  override async release(): Promise<void> {
    // There is no other owner.
  }

  override subscribe(listener: ReplicaListener): () => void {
    listener.joined?.();
    listener.elected?.();
    return () => undefined;
  }
}
