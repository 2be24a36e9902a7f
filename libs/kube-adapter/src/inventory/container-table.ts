import { isSameInstance, type Container, type InstanceRef } from '@headgate/domain-contracts';
import { containerRecord, type ContainerClaimFacts, type ContainerPodFacts } from './container-facts.js';
import type { RecordListener } from './vm-table.js';

interface Row {
  readonly ref: InstanceRef & { readonly kind: 'ct' };
  claim: ContainerClaimFacts | undefined;
  pod: ContainerPodFacts | undefined;
  record: Container | undefined;
}

/** Containers: each is a labeled data claim, joined with its pod while the container is started. */
export class ContainerTable {
  private readonly rows = new Map<string, Row>();

  constructor(
    private readonly context: string,
    private readonly listener: RecordListener<Container>,
  ) {}

  *records(): Generator<Container> {
    for (const { record } of this.rows.values()) if (record) yield record;
  }

  /** @param key `namespace/name` of the container, from the claim's labels */
  setClaim(key: string, claim: ContainerClaimFacts | undefined): void {
    const row = this.row(key);
    row.claim = claim;
    this.refresh(key, row);
  }

  setPod(key: string, pod: ContainerPodFacts | undefined): void {
    const row = this.row(key);
    row.pod = pod;
    this.refresh(key, row);
  }

  private row(key: string): Row {
    let row = this.rows.get(key);
    if (!row) {
      const [namespace = '', name = ''] = key.split('/');
      row = {
        ref: { kind: 'ct', context: this.context, namespace, name },
        claim: undefined,
        pod: undefined,
        record: undefined,
      };
      this.rows.set(key, row);
    }
    return row;
  }

  private refresh(key: string, row: Row): void {
    const { claim, pod, ref } = row;
    if (!claim) {
      if (!pod) this.rows.delete(key);
      if (row.record) this.listener.removed(ref);
      row.record = undefined;
      return;
    }
    const record = containerRecord(ref, claim, pod);
    if (row.record && isSameInstance(row.record, record)) return;
    row.record = record;
    this.listener.changed(record);
  }
}
