import {
  ADMINISTRATOR,
  Audit,
  definedFields,
  DomainError,
  UniformGrant,
  type Caller,
  type MailTarget,
} from '@headgate/domain-contracts';
import { MemoryAuditLog } from '@headgate/testing';
import { CreateChannel, DeleteChannel, TestChannel, UpdateChannel } from './channel-changes.js';
import { CreateRule, DeleteRule, MAX_RULES_PER_OWNER, UpdateRule, type RuleRequest } from './rule-changes.js';
import { buildChannel, buildCondition, buildRule, DAY_MS, MessageWorld } from './testing/message-world.js';
import { visibleRules } from './visible.js';

const root: Caller = { login: 'root', name: '', grant: ADMINISTRATOR };
const ann: Caller = { login: 'ann', name: '', grant: new UniformGrant('reader', 'ann', ['read']) };
const bob: Caller = { ...ann, login: 'bob' };

const MAIL: MailTarget = {
  kind: 'mail',
  host: 'mail.example.org',
  port: 587,
  security: 'starttls',
  user: 'headgate',
  password: 'correct horse',
  from: 'headgate@example.org',
  recipients: ['ops@example.org'],
};

describe('the changes of channels and rules', () => {
  let world: MessageWorld;
  let audit: MemoryAuditLog;
  let deps: ConstructorParameters<typeof CreateRule>[0] & ConstructorParameters<typeof CreateChannel>[0];

  beforeEach(() => {
    world = new MessageWorld();
    audit = new MemoryAuditLog();
    const { rules, channels, sender, clock } = world;
    deps = {
      rules,
      channels,
      sender,
      clock,
      audit: new Audit(audit, clock),
      dispatcher: { wake: () => undefined },
      times: { lastDigest: () => undefined, nextDigest: (_at, _zone, after) => after + DAY_MS },
      expectQuery: (q) => {
        if (q === '(') throw new DomainError('INVALID_INPUT', 'q: is not complete.');
      },
    };
  });

  const createMail = () => new CreateChannel(deps).run(root, { name: 'Mail', shared: false, target: MAIL }, root);

  const request = (more: Partial<RuleRequest> = {}): RuleRequest => {
    const { owner: _owner, id: _id, createdAt: _c, changedAt: _ch, state: _state, ...fields } = buildRule();
    return { ...fields, ...definedFields(more) };
  };

  test.each([
    ['host', { host: 'evil.example.org' }],
    ['port', { port: 25 }],
    ['security', { security: 'tls' }],
    ['user', { user: 'x' }],
  ])('a stored password is not sent with another %s', async (field, change) => {
    const { id } = await createMail();
    const update = { target: { kind: 'mail', ...change } } as const;
    const changing = new UpdateChannel(deps).run(id, update as never, root);
    await expect(changing).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(new RegExp(`mail.password.*${field}`)),
    });
    expect(world.channels.all()[0]?.target).toEqual(MAIL);
    const withPassword = { target: { ...update.target, password: 'new' } } as never;
    expect((await new UpdateChannel(deps).run(id, withPassword, root)).target).toMatchObject({ password: 'new' });
  });

  test('a stored password stays when the recipients change', async () => {
    const { id } = await createMail();
    const target = { kind: 'mail', recipients: ['new@example.org'] } as const;
    expect((await new UpdateChannel(deps).run(id, { target }, root)).target).toEqual({ ...MAIL, ...target });
  });

  test('no entry of the audit log has a secret', async () => {
    const { id } = await createMail();
    await new UpdateChannel(deps).run(id, { target: { kind: 'mail', password: 'battery staple' } }, root);
    await new TestChannel(deps).run(id, root, new AbortController().signal);
    await new DeleteChannel(deps).run(id, root);
    expect(audit.entries.map(({ action }) => action)).toEqual([
      'create message channel',
      'change message channel',
      'test message channel',
      'delete message channel',
    ]);
    expect(JSON.stringify(audit.entries)).not.toMatch(/correct horse|battery staple/);
  });

  test('a test sends one message, and returns the refusal', async () => {
    const { id } = await createMail();
    world.sender.outcome = { result: 'refused', reason: 'mail.example.org answered: 535 no' };
    const outcome = await new TestChannel(deps).run(id, root, new AbortController().signal);
    expect([outcome.reason, world.sender.sent.length]).toEqual(['mail.example.org answered: 535 no', 1]);
  });

  test('a channel that a rule uses is not deleted', async () => {
    await world.fill();
    await expect(new DeleteChannel(deps).run('channel', root)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('a user without the right to manage uses shared channels only', async () => {
    await world.channels.put(buildChannel({ shared: false }));
    await expect(new CreateRule(deps).run(ann, request(), ann)).rejects.toMatchObject({
      code: 'MESSAGE_CHANNEL_NOT_FOUND',
    });
    await world.channels.put(buildChannel());
    expect(await new CreateRule(deps).run(ann, request(), ann)).toMatchObject({ owner: 'ann' });
  });

  test("a rule is its owner's, and those with all rights see it", async () => {
    await world.fill();
    expect([ann, bob, root].map((caller) => visibleRules(world.rules, caller).length)).toEqual([1, 0, 1]);
    await expect(new DeleteRule(deps).run(bob, 'rule', bob)).rejects.toMatchObject({ code: 'MESSAGE_RULE_NOT_FOUND' });
  });

  test.each<[string, Partial<RuleRequest>]>([
    ['quietHours', { quietHours: { from: '22:00', to: '22:00' } }],
    ['q', { q: '(' }],
  ])('refuses a rule with a wrong %s, and names the field', async (field, more) => {
    await world.fill();
    const creating = new CreateRule(deps).run(bob, request(more), bob);
    await expect(creating).rejects.toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(field) });
  });

  test('a user has a limited number of rules', async () => {
    await world.fill();
    for (let index = 1; index < MAX_RULES_PER_OWNER; index++) await world.rules.put(buildRule({ id: `r${index}` }));
    const creating = new CreateRule(deps).run(ann, request({ name: 'More' }), ann);
    await expect(creating).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('a disabled rule sends nothing that waits, and sees only later events when it is enabled', async () => {
    const waiting = { ...buildRule().state, pending: { since: world.clock.iso(), events: [], more: 3 } };
    await world.fill(buildRule({ state: waiting }));
    const disabled = await new UpdateRule(deps).run(ann, 'rule', { enabled: false }, ann);
    expect(disabled.state.pending).toBeNull();
    world.clock.advance(DAY_MS);
    const enabled = await new UpdateRule(deps).run(ann, 'rule', { enabled: true }, ann);
    expect(enabled.state.endedUntil).toBe(world.clock.iso());
    expect(buildCondition('web').kind).toBe('instance');
  });

  test('null removes the folder of a rule', async () => {
    await world.fill(buildRule({ folder: 'prod' }));
    const changed = await new UpdateRule(deps).run(ann, 'rule', { folder: null }, ann);
    expect('folder' in changed).toBe(false);
  });
});
