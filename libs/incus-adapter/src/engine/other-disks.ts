import type { InstanceObject } from '../api/incus-objects.js';

/** The disks of an instance that are neither its root nor the given device. */
export const otherDisks = (
  { expanded_devices: devices }: InstanceObject,
  except: string | undefined,
): { readonly name: string; readonly path: string }[] =>
  Object.entries(devices).flatMap(([name, { type, path = '' }]) =>
    type === 'disk' && path !== '/' && name !== except ? [{ name, path }] : [],
  );
