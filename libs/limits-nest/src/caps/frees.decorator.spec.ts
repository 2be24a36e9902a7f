import type { CapWrite } from '@headgate/limits-core';
import { Body, Controller, Delete, ForbiddenException, Injectable, Put } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { HeldCounter } from '../rules/cap-rule.js';
import { LimitRules } from '../rules/limit-rules.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { Capped } from './capped.decorator.js';
import { Frees } from './frees.decorator.js';

interface ThingRequest extends LimitedRequest {
  readonly body: { readonly id: string };
}

@Injectable()
class Shelf extends HeldCounter {
  readonly things = new Set<string>();
  counts = 0;

  count(): number {
    this.counts++;
    return this.things.size;
  }

  override has = async (_holder: string, id: string) => this.things.has(id);
}

@Injectable()
class Box extends HeldCounter {
  count = () => 0;
}

const things = {
  limit: 2,
  resource: 'things',
  counter: Shelf,
  write: async ({ body }: ThingRequest): Promise<CapWrite> => ({ holder: 'a', id: body.id }),
};

@Controller()
class Routes {
  constructor(private readonly shelf: Shelf) {}

  @Put('things')
  @Capped('things', things)
  put(@Body() { id }: { id: string }) {
    this.shelf.things.add(id);
    return {};
  }

  @Delete('things')
  @Frees('things', () => ({ holder: 'a' }))
  delete(@Body() { id }: { id: string }) {
    if (!this.shelf.things.delete(id)) throw new ForbiddenException('No such thing.');
    return {};
  }

  @Delete('all')
  @Frees('things', async (_request, result) => ({ holder: 'a', amount: (result as { deleted: number }).deleted }))
  deleteAll() {
    const deleted = this.shelf.things.size;
    this.shelf.things.clear();
    return { deleted };
  }

  @Put('boxes')
  @Capped('boxes', {
    limit: 2,
    resource: 'boxes',
    counter: Box,
    write: ({ body }: LimitedRequest) => (body as { write: CapWrite }).write,
  })
  putBox() {
    return {};
  }
}

describe.each(PLATFORMS)('@Frees on %s', (platform) => {
  let app: TestApp;
  const send = (method: string, path: string, body: object) => app.send(method, path, { body });
  const put = async (id: string) => (await send('PUT', '/things', { id })).status;

  beforeEach(async () => {
    app = await TestApp.start(platform, { controllers: [Routes], providers: [Shelf, Box] });
  });
  afterEach(() => app.close());

  test('frees a place immediately when its handler succeeds, and none when it fails', async () => {
    expect([await put('1'), await put('2'), await put('3')]).toEqual([200, 200, 400]);
    expect((await send('DELETE', '/things', { id: 'x' })).status).toBe(403);
    expect(await put('3')).toBe(400);
    expect((await send('DELETE', '/things', { id: '1' })).status).toBe(200);
    expect([await put('3'), await put('4')]).toEqual([200, 400]);
    expect(app.get(Shelf).counts).toBe(1);
  });

  test('frees the amount that the handler reports', async () => {
    expect([await put('1'), await put('2')]).toEqual([200, 200]);
    expect((await send('DELETE', '/all', {})).status).toBe(200);
    expect([await put('3'), await put('4'), await put('5')]).toEqual([200, 200, 400]);
  });

  test('grants rewrites of items that the counter has', async () => {
    expect([await put('1'), await put('2'), await put('1'), await put('2'), await put('3')]).toEqual([
      200, 200, 200, 200, 400,
    ]);
  });

  test('lets a handler free places explicitly', async () => {
    expect([await put('1'), await put('2'), await put('3')]).toEqual([200, 200, 400]);
    app.get(LimitRules).free('things', 'a', 2);
    expect([await put('3'), await put('4')]).toEqual([200, 200]);
    expect(() => app.get(LimitRules).free('thigns', 'a')).toThrow('thigns: no route declares this cap.');
  });

  test('refuses a write without a proper holder or amount with 400', async () => {
    for (const write of [{ holder: 5 }, { holder: ['a'] }, { holder: 'a', amount: -1 }, { holder: 'a', amount: '1' }]) {
      const answer = await send('PUT', '/boxes', { write });
      expect([write, answer.status, answer.body['errcode']]).toEqual([write, 400, 'M_BAD_JSON']);
    }
    expect((await app.send('PUT', '/boxes')).status).toBe(400);
    expect((await send('PUT', '/boxes', { write: { holder: 'a', amount: 2 } })).status).toBe(200);
  });
});

test('a route that frees a cap that no route declares prevents the start', async () => {
  @Controller()
  class Wrong {
    @Delete()
    @Frees('thigns', () => ({ holder: 'a' }))
    delete() {
      return {};
    }
  }
  await expect(TestApp.start('Fastify', { controllers: [Wrong] })).rejects.toThrow(
    'Wrong.delete: @Frees names thigns, which is not a cap.',
  );
});
