import type { EntryReader } from '../entry-reader.js';
import { LISTED_FIELDS, type ListedInstance } from '../listed-instance.js';

/** A running VM, with overrides for the test. */
export function buildEntry(overrides: Partial<ListedInstance> = {}): ListedInstance {
  const { name = 'web-1', namespace = 'shop', context = 'lab' } = overrides;
  return {
    ref: `vm/${context}/${namespace}/${name}`,
    name,
    namespace,
    context,
    backend: 'kubevirt',
    status: 'Running',
    running: true,
    ready: true,
    cpu: 2,
    mem: '4Gi',
    disk: '20Gi',
    tags: [],
    ...overrides,
  };
}

/** Words are searched in names, contexts, tags, images and addresses. */
export const reader: EntryReader<ListedInstance> = {
  ...LISTED_FIELDS,
  words: ({ name, context, status = '', image = '', ip = '', tags }) =>
    [name, context, status, image, ip, ...tags].join('\n').toLowerCase(),
};
