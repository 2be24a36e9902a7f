import type { CapWrite } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import { Body, Controller, Injectable, Put, Res } from '@nestjs/common';
import { NEVER } from 'rxjs';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type LimitedRequest, nodeResponse } from '../http/http-route.js';
import { HeldCounter } from '../rules/cap-rule.js';
import { LimitRules } from '../rules/limit-rules.js';
import type { LimitsOptions } from '../rules/limits-options.js';
import { PLATFORMS, TestApp } from '../testing/test-app.js';
import { Capped } from './capped.decorator.js';

interface ThingRequest extends LimitedRequest {
  readonly body: { readonly id: string; readonly rewrite?: boolean };
}

@Injectable()
class Shelf extends HeldCounter {
  readonly things = new Set<string>();
  counts = 0;
  readonly entered = Promise.withResolvers<ServerResponse>();

  count(): number {
    this.counts++;
    return this.things.size;
  }
}

const things = {
  limit: 3,
  resource: 'things',
  counter: Shelf,
  write: ({ body }: ThingRequest): CapWrite => ({ holder: 'a', id: body.id, rewrite: body.rewrite ?? false }),
};
const heavy = {
  limit: 10,
  resource: 'grams',
  counter: Shelf,
  write: ({ body }: LimitedRequest): CapWrite | undefined => {
    const { grams } = body as { grams?: number };
    return grams === undefined ? undefined : { holder: 'a', amount: grams };
  },
};

@Controller()
class Routes {
  constructor(private readonly shelf: Shelf) {}

  @Put('things')
  @Capped('things', things)
  @Capped('weight', heavy)
  put(@Body() { id, fail }: { id: string; fail?: boolean }) {
    if (fail) throw MatrixError.forbidden('No.');
    this.shelf.things.add(id);
    return {};
  }

  @Put('refused')
  @Capped('things', things)
  refused(@Res({ passthrough: true }) reply: { status(code: number): unknown }) {
    reply.status(409);
    return {};
  }

  @Put('hung')
  @Capped('things', things)
  hung(@Res({ passthrough: true }) reply: { raw?: ServerResponse }) {
    this.shelf.entered.resolve(nodeResponse(reply));
    return NEVER;
  }
}

describe.each(PLATFORMS)('@Capped on %s', (platform) => {
  let app: TestApp;
  const start = async (options?: LimitsOptions) => {
    app = await TestApp.start(platform, { controllers: [Routes], providers: [Shelf] }, options);
  };
  const put = (body: object, path = '/things') => app.send('PUT', path, { body });
  const held = (name: string) => {
    const { ledger } = app.get(LimitRules);
    return ledger.held(
      ledger.caps.find((cap) => cap.name === name)!,
      'a',
    );
  };

  afterEach(() => app.close());

  test('refuses with 400 and no hint to retry, and grants no more than the cap to parallel writes', async () => {
    await start();
    const answers = await Promise.all(['1', '2', '3', '4', '5'].map((id) => put({ id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400]);
    const refusal = answers.find(({ status }) => status === 400)!;
    expect(refusal.body).toEqual({
      errcode: 'M_LIMIT_EXCEEDED',
      error: 'The limit of 3 things is reached; waiting does not help, deleting some does.',
    });
    expect(refusal.headers['retry-after']).toBeUndefined();
    expect(app.get(Shelf).counts).toBe(1);
  });

  test('grants rewrites at the cap, and releases the reservation of a failed write, also with rates disabled', async () => {
    await start({ ratesEnabled: false });
    for (let attempt = 0; attempt < 5; attempt++) expect((await put({ id: 'x', fail: true })).status).toBe(403);
    for (const id of ['1', '2', '3']) expect((await put({ id })).status).toBe(200);
    expect((await put({ id: '4' })).status).toBe(400);
    expect((await put({ id: '1', rewrite: true })).status).toBe(200);
  });

  test('takes its limit from the options, and only reports in shadow mode', async () => {
    await start({ capLimits: { things: 1 }, shadow: ['things'] });
    for (const id of ['1', '2', '3', '4']) expect((await put({ id })).status).toBe(200);
    expect(await app.decisions('things')).toEqual({ granted: 1, shadow_refused: 3 });
    expect(held('things')).toBe(4);
  });

  test('requires room under every cap of a route, and releases the reservations under the others', async () => {
    await start();
    expect((await put({ id: '1', grams: 8 })).status).toBe(200);
    for (const id of ['2', '3', '4']) {
      expect((await put({ id, grams: 8 })).body['error']).toContain('10 grams');
    }
    expect(await app.decisions('weight')).toEqual({ granted: 1, refused: 3 });
    expect([held('things'), held('weight')]).toEqual([1, 8]);
    for (const id of ['5', '6']) expect((await put({ id, grams: 1 })).status).toBe(200);
  });

  test('does not count a write that was answered with an error status', async () => {
    await start();
    for (let i = 0; i < 4; i++) expect((await put({ id: `${i}` }, '/refused')).status).toBe(409);
    expect(held('things')).toBe(0);
  });

  test('counts again after a write with an unknown outcome', async () => {
    await start();
    const call = app.open('PUT', '/hung', { body: { id: '1' } });
    const response = await app.get(Shelf).entered.promise;
    app.get(Shelf).things.add('written after the disconnect');
    call.destroy();
    await once(response, 'close');
    for (const id of ['2', '3']) expect((await put({ id })).status).toBe(200);
    expect((await put({ id: '4' })).status).toBe(400);
    expect(app.get(Shelf).counts).toBe(2);
  });
});
