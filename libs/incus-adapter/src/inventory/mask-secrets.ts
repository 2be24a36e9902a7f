import type { Config, InstanceObject } from '../api/incus-objects.js';

const MASK = '********';

/** Keys whose values are, or often contain, passwords and keys. */
const SECRET_KEY =
  /^(environment\.|raw\.|cloud-init\.(user|vendor)-data$|user\.(user|vendor)-data$|.*(password|passwd|secret|token|private|credential|api[-_]?key))/i;

/** A copy of an instance with all secrets of its configuration masked. */
export const maskSecrets = (instance: InstanceObject): InstanceObject => ({
  ...instance,
  config: maskConfig(instance.config),
  expanded_config: maskConfig(instance.expanded_config),
});

const maskConfig = (config: Config): Config =>
  Object.fromEntries(Object.entries(config).map(([key, value]) => [key, SECRET_KEY.test(key) ? MASK : value]));
