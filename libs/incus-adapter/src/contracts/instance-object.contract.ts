import type { InstanceObject } from '../api/incus-objects.js';

/** A container as a server describes it. */
export const instanceObject = (overrides: Partial<InstanceObject> = {}): InstanceObject => ({
  name: 'web',
  project: 'default',
  type: 'container',
  status: 'Running',
  description: '',
  architecture: 'x86_64',
  ephemeral: false,
  stateful: false,
  profiles: ['default'],
  config: { 'volatile.uuid': 'dda33808-efbf-4907-a43f-0ed5d4ad3d51', 'image.description': 'tiny' },
  devices: {},
  expanded_config: {},
  expanded_devices: {},
  created_at: '2026-11-28T15:20:09.06338426Z',
  last_used_at: '2026-11-28T15:20:09Z',
  location: 'none',
  ...overrides,
});
