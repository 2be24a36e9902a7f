import type { Backend, Clock } from '@headgate/domain-contracts';
import { ConfigError } from '@headgate/nest-kit';

export async function openCluster(choice: { name: string }, _clock: Clock, _log: unknown): Promise<Backend> {
  throw new ConfigError(`the context ${choice.name}`, ['clusters are not served by this build']);
}

export async function openSandbox(name: string, _instances: number, _clock: Clock, _log: unknown): Promise<Backend> {
  throw new ConfigError(`the context ${name}`, ['clusters are not served by this build']);
}
