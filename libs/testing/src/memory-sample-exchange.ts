import { SampleExchange, type SampleRound } from '@headgate/domain-contracts';

type Listener = (round: SampleRound) => void;

/** What the exchanges of several replicas share. */
export class SharedSamples {
  readonly rounds = new Map<string, SampleRound>();
  readonly replicas = new Set<MemorySampleExchange>();

  join(): MemorySampleExchange {
    const replica = new MemorySampleExchange(this);
    this.replicas.add(replica);
    return replica;
  }
}

/** SampleExchange in memory, as one replica sees it. */
export class MemorySampleExchange extends SampleExchange {
  private readonly listeners = new Set<Listener>();

  constructor(private readonly shared: SharedSamples) {
    super();
  }

  override async publish(round: SampleRound): Promise<void> {
    this.shared.rounds.set(round.context, structuredClone(round));
    for (const replica of this.shared.replicas) if (replica !== this) replica.receive(round);
  }

  override subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    for (const round of this.shared.rounds.values()) listener(structuredClone(round));
    return () => void this.listeners.delete(listener);
  }

  private receive(round: SampleRound): void {
    for (const listener of [...this.listeners]) listener(structuredClone(round));
  }
}
