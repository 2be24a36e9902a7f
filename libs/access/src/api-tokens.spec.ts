import {
  ADMINISTRATOR,
  Audit,
  DomainError,
  type ApiToken,
  type Caller,
  type TokenAction,
} from '@headgate/domain-contracts';
import { FixedClock, MemoryApiTokenStore, MemoryAuditLog } from '@headgate/testing';
import { ApiTokens } from './api-tokens.js';
import { CreateToken, MAX_TOKENS } from './create-token.js';
import { ChangeToken } from './change-token.js';
import { RevokeToken } from './revoke-token.js';
import { RotateToken } from './rotate-token.js';
import { StopAgents } from './stop-agents.js';
import { newToken } from './token-text.js';

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
const REFUSAL = 'The API token is unknown, expired or revoked, or not valid for your address.';
/** Most tokens of these tests have no addresses, so this is not called. */
const anywhere = (): boolean => false;
const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

class CountingStore extends MemoryApiTokenStore {
  uses = 0;
  fails = false;
  isLost = false;

  override get(id: string): ApiToken | undefined {
    if (this.isLost) throw new DomainError('NOT_READY', 'The store is lost.');
    return super.get(id);
  }

  override setLastUsed(id: string, time: string): Promise<void> {
    this.uses++;
    if (this.fails) return Promise.reject(new Error('database or disk is full'));
    return super.setLastUsed(id, time);
  }
}

function setUp(store = new CountingStore()) {
  const clock = new FixedClock();
  const log = new MemoryAuditLog();
  const audit = new Audit(log, clock);
  const tokens = new ApiTokens(store, clock);
  const create = new CreateToken(store, clock, audit);
  const revoke = new RevokeToken(tokens, store, audit);
  const change = new ChangeToken({ tokens, store, clock, audit });
  const rotate = new RotateToken({ tokens, store, clock, audit });
  const add = (name: string, days = 10, actions: readonly TokenAction[] = ['power', 'read']) =>
    create.run({ name, actions, scope: { folder: 'prod' }, days }, ann);
  return { clock, store, log, audit, tokens, create, revoke, change, rotate, add };
}

describe('API tokens', () => {
  test('authenticate by their text, and are stored without it', async () => {
    const { store, tokens, add, log } = setUp();
    const { text, token } = await add('ci');
    expect(tokens.authenticate(text, anywhere)).toMatchObject({
      id: token.id,
      name: 'ci',
      creator: 'ann',
      actions: ['read', 'power'],
    });
    expect(JSON.stringify([store.all(), log.entries])).not.toContain(text);
    const secret = text.slice('hgt_'.length + token.id.length);
    expect(JSON.stringify([store.all(), log.entries])).not.toContain(secret);
    expect(log.entries).toMatchObject([{ caller: 'ann', action: 'create token', ref: 'token/ci', outcome: 'ok' }]);
  });

  test('that are unknown, expired, revoked or altered get the same refusal', async () => {
    const { clock, tokens, revoke, add } = setUp();
    const revoked = await add('revoked');
    await revoke.run(revoked.token.id, ann);
    const expired = await add('expired', 1);
    const other = await add('other');
    // The ID of one token with the rest of another one has a wrong checksum; the secret of another one has a wrong
    // digest.
    const mixed = other.text.replace(other.token.id, expired.token.id);
    clock.advance(DAY_MS);
    const refusals = [revoked.text, expired.text, mixed, newToken().text, 'hgt_', ''].map((text) => {
      try {
        return tokens.authenticate(text, anywhere).id;
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(new Set(refusals)).toEqual(new Set([REFUSAL]));
    expect(tokens.authenticate(other.text, anywhere).id).toBe(other.token.id);
  });

  test('are accepted from their addresses only, with the same refusal as unknown ones', async () => {
    const { tokens, create, change, log } = setUp();
    const from = (address: string) => (addresses: readonly string[]) => addresses.includes(address);
    const addresses = ['192.0.2.7', '10.0.0.0/8'];
    const { text, token } = await create.run({ name: 'ci', actions: ['power'], scope: {}, addresses, days: 10 }, ann);
    expect(tokens.authenticate(text, from('192.0.2.7')).id).toBe(token.id);
    const refusals = [
      () => tokens.authenticate(text, from('192.0.2.8')),
      () => tokens.authenticate(newToken().text, from('')),
    ];
    const messages = refusals.map((refused) => {
      expect(refused).toThrow(DomainError);
      try {
        return refused();
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(new Set(messages).size).toBe(1);
    let closed = 0;
    tokens.closeWith(token.id, () => closed++);
    await change.run(token.id, { addresses: [] }, ann);
    expect(closed).toBe(1);
    expect(tokens.authenticate(text, () => false).id).toBe(token.id);
    expect(log.entries.map(({ message }) => message).join()).toContain('from 192.0.2.7, 10.0.0.0/8');
    expect(log.entries.map(({ message }) => message).join()).toContain('from any address');
  });

  test('expire at the very moment', async () => {
    const { clock, tokens, add } = setUp();
    const { text } = await add('ci', 1);
    clock.advance(DAY_MS - 1);
    tokens.authenticate(text, anywhere);
    clock.advance(1);
    expect(() => tokens.authenticate(text, anywhere)).toThrow(expect.objectContaining({ code: 'NOT_PERMITTED' }));
  });

  test('record their last use at most once a minute', async () => {
    const { clock, store, tokens, add } = setUp();
    const { text, token } = await add('ci');
    for (let index = 0; index < 5; index++) tokens.authenticate(text, anywhere);
    expect([store.uses, store.get(token.id)?.lastUsedAt]).toEqual([1, clock.iso()]);
    clock.advance(MINUTE_MS);
    tokens.authenticate(text, anywhere);
    expect([store.uses, store.get(token.id)?.lastUsedAt]).toEqual([2, clock.iso()]);
  });

  test('close their connections when they are revoked, and no others', async () => {
    const { tokens, revoke, add } = setUp();
    const [first, second] = [await add('first'), await add('second')];
    const closed: string[] = [];
    tokens.closeWith(first.token.id, () => closed.push('stream'));
    tokens.closeWith(first.token.id, () => closed.push('left'))();
    tokens.closeWith(second.token.id, () => closed.push('other'));
    await revoke.run(first.token.id, ann);
    expect(closed).toEqual(['stream']);
    tokens.closeWith(first.token.id, () => closed.push('late'));
    expect(closed).toEqual(['stream', 'late']);
  });

  test('close their connections when another replica changes or rotates them, and keep those that come later', async () => {
    const a = setUp();
    const b = setUp(a.store);
    const [first, second, third] = [await a.add('first'), await a.add('second'), await a.add('third')];
    const closed: string[] = [];
    const open = (id: string, name: string) => b.tokens.closeWith(id, () => closed.push(name));
    open(first.token.id, 'first');
    open(second.token.id, 'second');
    open(third.token.id, 'third');
    await a.change.run(first.token.id, { actions: ['read'] }, ann);
    await a.rotate.run(second.token.id, undefined, ann);
    expect(closed).toEqual(['first', 'second']);
    const end = open(first.token.id, 'again');
    await a.change.run(third.token.id, { days: 3 }, ann);
    expect(closed).toEqual(['first', 'second', 'third']);
    end();
    await a.change.run(first.token.id, { days: 3 }, ann);
    expect(closed).toEqual(['first', 'second', 'third']);
  });

  test('close a connection whose end comes after their others were closed once only', async () => {
    const { tokens, change, add } = setUp();
    const { token } = await add('ci');
    const closed: string[] = [];
    const end = tokens.closeWith(token.id, () => closed.push('old'));
    await change.run(token.id, { days: 3 }, ann);
    tokens.closeWith(token.id, () => closed.push('new'));
    // The closed connection reports its end late; the new one stays known.
    end();
    await change.run(token.id, { days: 4 }, ann);
    expect(closed).toEqual(['old', 'new']);
  });

  test('that have expired are rotated with a new time only', async () => {
    const { clock, tokens, rotate, add } = setUp();
    const { token } = await add('ci', 1);
    clock.advance(2 * DAY_MS);
    await expect(rotate.run(token.id, undefined, ann)).rejects.toMatchObject({ code: 'CONFLICT' });
    const { text } = await rotate.run(token.id, 1, ann);
    expect(tokens.authenticate(text, anywhere).id).toBe(token.id);
  });

  test('close their connections when another replica revokes them, and no others', async () => {
    const a = setUp();
    const b = setUp(a.store);
    const [first, second] = [await a.add('first'), await b.add('second')];
    const closed: string[] = [];
    b.tokens.closeWith(first.token.id, () => closed.push('first'));
    b.tokens.closeWith(second.token.id, () => closed.push('second'));
    expect(b.tokens.authenticate(first.text, anywhere).id).toBe(first.token.id);
    await a.revoke.run(first.token.id, ann);
    expect(closed).toEqual(['first']);
    expect(() => b.tokens.authenticate(first.text, anywhere)).toThrow(
      expect.objectContaining({ code: 'NOT_PERMITTED' }),
    );
    expect(b.tokens.authenticate(second.text, anywhere).id).toBe(second.token.id);
  });

  test('close their connections when the store can not say whether they were revoked', async () => {
    const { store, tokens, add } = setUp();
    const { token } = await add('first');
    let closed = 0;
    tokens.closeWith(token.id, () => closed++);
    store.isLost = true;
    // Another replica has changed some token.
    await store.put({ ...token, id: 'other', name: 'other' });
    expect(closed).toBe(1);
  });

  test('work although their use can not be recorded, which is tried again a minute later', async () => {
    const { clock, store, tokens, add } = setUp();
    const { text, token } = await add('ci');
    store.fails = true;
    for (let index = 0; index < 3; index++) expect(tokens.authenticate(text, anywhere).id).toBe(token.id);
    expect([store.uses, store.get(token.id)?.lastUsedAt]).toEqual([1, null]);
    store.fails = false;
    clock.advance(MINUTE_MS);
    tokens.authenticate(text, anywhere);
    expect([store.uses, store.get(token.id)?.lastUsedAt]).toEqual([2, clock.iso()]);
  });

  test('close their connections when they expire, also after longer than a timer can wait', async () => {
    const { clock, tokens, add } = setUp();
    const { token } = await add('ci', 60);
    let closed = 0;
    tokens.closeWith(token.id, () => closed++);
    const cancel = tokens.closeWith(token.id, () => closed++);
    cancel();
    for (let day = 0; day < 59; day++) clock.advance(DAY_MS);
    expect(closed).toBe(0);
    clock.advance(DAY_MS);
    expect([closed, clock.pending]).toEqual([1, 0]);
  });

  test('have names of their own, and a limited number', async () => {
    const { clock, store, add } = setUp();
    await add('ci');
    await expect(add('ci')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    for (let index = 1; index < MAX_TOKENS; index++) await add(`ci-${index}`);
    await expect(add('more')).rejects.toMatchObject({ code: 'CONFLICT' });
    // Those that have expired long ago make room.
    clock.advance(41 * DAY_MS);
    await add('ci');
    expect(store.all()).toHaveLength(1);
  });

  test('are not created or revoked by a dry run', async () => {
    const { store, create, revoke, add } = setUp();
    const request = { name: 'ci', actions: ['read'] as const, scope: {}, days: 1 };
    expect((await create.plan(request)).steps).toHaveLength(1);
    expect(store.all()).toEqual([]);
    const { token } = await add('ci');
    expect((await revoke.plan(token.id)).steps).toEqual([{ name: 'revoke token', detail: 'ci' }]);
    expect(store.all()).toHaveLength(1);
    await expect(revoke.plan('0123456789')).rejects.toMatchObject({ code: 'TOKEN_NOT_FOUND' });
    await expect(revoke.run('0123456789', ann)).rejects.toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  });
});

describe('Tokens with a leash', () => {
  const LEASH = { changesPerHour: 10, maxPercentOfFolder: 20, approval: 'destructive' } as const;

  const setUpAgent = async () => {
    const base = setUp();
    const { tokens, store, audit } = base;
    const stop = new StopAgents({ tokens, store, audit });
    const request = { name: 'agent', actions: ['delete', 'power'], scope: {}, days: 10, agent: LEASH } as const;
    return { ...base, stop, agent: await base.create.run(request, ann) };
  };

  test('are stored as tokens that only read, with the actions of their rehearsals apart', async () => {
    const { tokens, agent, change, store } = await setUpAgent();
    const known = tokens.authenticate(agent.text, anywhere);
    expect(known).toMatchObject({ actions: ['read'], agent: { ...LEASH, actions: ['power', 'delete'] } });
    await change.run(known.id, { actions: ['change'], agent: { approval: 'all' } }, ann);
    expect(store.get(known.id)).toMatchObject({
      actions: ['read'],
      agent: { ...LEASH, actions: ['change'], approval: 'all' },
    });
  });

  test('stay with a leash, and others get none', async () => {
    const { agent, change, rotate, add, store } = await setUpAgent();
    await rotate.run(agent.token.id, undefined, ann);
    expect(store.get(agent.token.id)?.agent).toEqual({ ...LEASH, actions: ['power', 'delete'] });
    const { token } = await add('ci');
    await expect(change.run(token.id, { agent: { approval: 'none' } }, ann)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(store.get(token.id)?.agent).toBeUndefined();
  });

  test('are stopped, one or all, which closes their connections, and resumed', async () => {
    const { agent, add, stop, tokens, store, log } = await setUpAgent();
    const { token: other } = await add('ci');
    const closed: string[] = [];
    tokens.closeWith(agent.token.id, () => closed.push('agent'));
    tokens.closeWith(other.id, () => closed.push('ci'));
    expect(await stop.plan(undefined, true)).toMatchObject({ steps: [{ name: 'stop agent', detail: 'agent' }] });
    expect((await stop.run(undefined, true, ann)).map(({ id }) => id)).toEqual([agent.token.id]);
    expect([closed, store.get(agent.token.id)?.isStopped]).toEqual([['agent'], true]);
    await stop.run(agent.token.id, false, ann);
    expect(store.get(agent.token.id)?.isStopped).toBe(false);
    expect(log.entries.slice(-2)).toMatchObject([
      { action: 'stop agent', ref: 'token/agent' },
      { action: 'resume agent', ref: 'token/agent' },
    ]);
    await expect(stop.run(other.id, true, ann)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(stop.run('unknown', true, ann)).rejects.toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  });
});
