import type { FactoryProvider } from '@nestjs/common';
import { TaskRunner, type TaskDefinition } from '@headgate/domain-contracts';
import { provideDeps, type TokensOf } from '../platform/provide-deps.js';

/**
 * Provides the definition of a task, and the task, which is defined while the service is created.
 * @param token of the task
 */
export const provideTask = <Deps extends object, Input extends object>(
  token: symbol,
  definition: new (deps: Deps) => TaskDefinition<Input>,
  tokens: TokensOf<Deps>,
): FactoryProvider[] => [
  provideDeps(definition, tokens),
  {
    provide: token,
    inject: [definition, TaskRunner],
    useFactory: (defined: TaskDefinition<Input>, tasks: TaskRunner) => tasks.define(defined),
  },
];
