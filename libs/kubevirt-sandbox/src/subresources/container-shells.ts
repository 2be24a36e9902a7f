import { guestFiles, type GuestFiles } from '../guests/guest-files.js';
import { guestProfileFor } from '../guests/guest-profile.js';
import type { GuestFacts } from '../guests/guest-facts.js';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Container, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

/** The facts that the shell of a container knows about its pod. */
export function containerFacts({ metadata, status }: Pod, container: Container): GuestFacts {
  const { limits, requests } = container.resources ?? {};
  return {
    name: metadata.name,
    hostname: metadata.name,
    profile: guestProfileFor([container.image]),
    cpus: Math.max(1, Math.ceil(quantityValue(limits?.cpu ?? requests?.cpu ?? '1'))),
    memoryBytes: quantityValue(limits?.memory ?? requests?.memory ?? '1Gi'),
    interfaces: [{ name: 'eth0', address: status?.podIP ?? '127.0.0.1', mac: '02:00:00:00:00:01' }],
    disks: [],
    bootedAt: Date.parse(status?.startTime ?? '1970-01-01T00:00:00Z'),
  };
}

/** The files of a container, as the programs in it see them. */
export interface ContainerTree {
  readonly files: GuestFiles;
  /** Entries that are no files. They are in `files` as well, so that a shell lists them. */
  readonly special: ReadonlyMap<string, SpecialEntry>;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

export type SpecialEntry = { readonly type: 'link'; readonly target: string } | { readonly type: 'pipe' };

/** The same in each container. Bytes that are not UTF-8 are surrogates from U+DC80 to U+DCFF. */
const SPECIAL: ReadonlyMap<string, SpecialEntry> = new Map([
  ['/bin', { type: 'link', target: 'usr/bin' }],
  ['/etc/mtab', { type: 'link', target: '/proc/mounts' }],
  ['/home/latest', { type: 'link', target: '../root/odd names' }],
  ['/root/notes', { type: 'link', target: 'odd names/-rf' }],
  ['/root/nowhere', { type: 'link', target: 'missing' }],
  ['/run/queue', { type: 'pipe' }],
]);
const ODD_FILES: readonly (readonly [path: string, content: string])[] = [
  ['/root/odd names/-rf', 'A name that begins with a dash.\n'],
  ['/root/odd names/two\nlines', 'A name with a new line.\n'],
  ['/root/odd names/100% "quoted"', 'A name with quotes.\n'],
  ['/root/odd names/Übung 日本', 'A name in UTF-8.\n'],
  ['/root/odd names/not-utf-8-\udcff', 'A name that is not UTF-8.\n'],
  ['/usr/bin/sh', 'simulated program\n'],
  ['/tmp/empty', ''],
];

/** The files of containers. With a claim they live as long as the claim, otherwise as long as the pod. */
export class ContainerFiles {
  private readonly files = new Map<string, GuestFiles>();

  constructor(private readonly context: SimulationContext) {}

  of(pod: Pod, container: Container): GuestFiles {
    const owner = this.ownerOf(pod);
    const known = this.files.get(owner);
    if (known) return known;
    const files = guestFiles(containerFacts(pod, container), 'user');
    for (const { mountPath } of container.volumeMounts ?? []) {
      files.set(`${mountPath.replace(/\/$/, '')}/.volume`, `simulated volume\n`);
    }
    for (const [path, content] of ODD_FILES) files.set(path, content);
    for (const path of SPECIAL.keys()) files.set(path, '');
    this.files.set(owner, files);
    return files;
  }

  treeOf(pod: Pod, container: Container): ContainerTree {
    const { startTime = '1970-01-01T00:00:00Z' } = pod.status ?? {};
    return { files: this.of(pod, container), special: SPECIAL, changedAt: Date.parse(startTime) };
  }

  /** Discards the files of deleted pods and claims. */
  watch(): void {
    for (const resource of [RESOURCES.pod, RESOURCES.claim]) {
      this.context.store.subscribe(
        resource,
        ({ type, object }) => {
          if (type === 'DELETED') this.files.delete(object.metadata.uid!);
        },
        { atRest: 'never' },
      );
    }
  }

  private ownerOf({ metadata, spec }: Pod): string {
    const name = spec.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim)?.persistentVolumeClaim
      ?.claimName;
    const claim = name && this.context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, name);
    return claim ? claim.metadata.uid! : metadata.uid!;
  }
}
