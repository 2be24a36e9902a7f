import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { provideDeps } from './provide-deps.js';

abstract class Store {
  abstract readonly name: string;
}

class MemoryStore extends Store {
  override readonly name = 'memory';
}

abstract class Greeting {
  abstract greet(): string;
}

class Service implements Greeting {
  constructor(private readonly deps: { readonly store: Store; readonly owner: string; readonly suffix?: string }) {}

  greet(): string {
    return `${this.deps.store.name} of ${this.deps.owner}`;
  }
}

const OWNER = Symbol('OWNER');

@Module({
  providers: [
    { provide: OWNER, useValue: 'ann' },
    { provide: Store, useClass: MemoryStore },
    provideDeps(Service, { owner: OWNER, store: Store }),
    provideDeps(Service, { owner: OWNER, store: Store }, Greeting),
  ],
})
class ServiceModule {}

describe('provideDeps', () => {
  test('passes each dependency under its name, whatever the order', async () => {
    const context = await NestFactory.createApplicationContext(ServiceModule, { logger: false });
    expect(context.get(Service).greet()).toBe('memory of ann');
    expect(context.get(Greeting)).toBeInstanceOf(Service);
    await context.close();
  });

  test('accepts only tokens of the right type', () => {
    // @ts-expect-error Greeting is no Store
    provideDeps(Service, { owner: OWNER, store: Greeting });
    // @ts-expect-error the owner is missing
    expect(provideDeps(Service, { store: Store }).inject).toEqual([Store]);
  });
});
