import type { Presentation } from '../terminal/output.js';
import { isVm, kindOf, statusOf, type InstanceView } from './instance.js';

/** How instances are listed. */
export const INSTANCES: Presentation<InstanceView> = {
  nameOf: ({ ref }) => ref,
  ifEmpty: 'No VM or container matches.',
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'KIND', of: kindOf },
    { title: 'NAMESPACE', of: ({ namespace }) => namespace },
    { title: 'CONTEXT', of: ({ context }) => context },
    { title: 'STATUS', of: (instance) => `${statusOf(instance)}${instance.stale ? ' (stale)' : ''}` },
    { title: 'CPU', of: ({ cpu }) => cpu },
    { title: 'MEMORY', of: ({ mem }) => mem },
    { title: 'ADDRESS', of: (instance) => (isVm(instance) ? instance.ip : undefined) },
    { title: 'NODE', of: ({ node }) => node, isWide: true },
    { title: 'DISK', of: (instance) => (isVm(instance) ? instance.disk : undefined), isWide: true },
    { title: 'OS / IMAGE', of: (instance) => (isVm(instance) ? instance.os : instance.image), isWide: true },
    { title: 'FOLDER', of: ({ folder }) => folder, isWide: true },
    { title: 'TAGS', of: ({ tags }) => tags.join(','), isWide: true },
    { title: 'REASON', of: ({ reason }) => reason, isWide: true },
  ],
};
