import { Replicas, type ReplicaListener } from '@headgate/domain-contracts';

/** One of several replicas, whose leadership a test decides. Those with the same map share their claims. */
export class ManualReplica extends Replicas {
  override isMember = true;
  override isLeader = false;
  private readonly listeners = new Set<ReplicaListener>();

  constructor(
    override readonly id = 'a',
    private readonly claims = new Map<string, string>(),
  ) {
    super();
  }

  elect(): void {
    this.isLeader = true;
    for (const listener of [...this.listeners]) listener.elected?.();
  }

  depose(): void {
    this.isLeader = false;
    for (const listener of [...this.listeners]) listener.deposed?.();
  }

  join(): void {
    this.isMember = true;
    for (const listener of [...this.listeners]) listener.joined?.();
  }

  leave(): void {
    this.isMember = false;
    for (const listener of [...this.listeners]) listener.left?.();
  }

  override async isGone(): Promise<boolean> {
    return false;
  }

  override async claim(name: string): Promise<string> {
    const owner = this.claims.get(name) ?? this.id;
    this.claims.set(name, owner);
    return owner;
  }

  override async release(name: string): Promise<void> {
    if (this.claims.get(name) === this.id) this.claims.delete(name);
  }

  override subscribe(listener: ReplicaListener): () => void {
    this.listeners.add(listener);
    if (this.isMember) listener.joined?.();
    if (this.isLeader) listener.elected?.();
    return () => void this.listeners.delete(listener);
  }
}
